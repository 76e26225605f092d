/** Fields of the Limits tab that say how strictly the budget is enforced. */
import { NumberInput, Select, SimpleGrid, Switch } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import type { FormErrors } from '../../components/forms/server-errors-at-form-fields.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

export const ENFORCEMENT_LABELS = {
  budgetMode: 'Hard budget',
  holdMaxOutputTokens: 'Reserved output tokens',
  onStoreLoss: 'If limits cannot be checked',
};

interface EnforcementInputs {
  readonly budgetMode: Agent['budgetMode'];
  readonly holdMaxOutputTokens: number | string;
  /** `default`: what the API chooses for the mode. */
  readonly onStoreLoss: 'default' | Agent['onStoreLoss'];
}

/** What the API chooses for an agent that says nothing. */
const defaultOnStoreLoss = (mode: Agent['budgetMode']): Agent['onStoreLoss'] => (mode === 'hard' ? 'refuse' : 'allow');

/** The API answers the effective value: one that equals the default is shown as the default. */
export const enforcementInputs = (agent: Agent): EnforcementInputs => ({
  budgetMode: agent.budgetMode,
  holdMaxOutputTokens: agent.holdMaxOutputTokens,
  onStoreLoss: agent.onStoreLoss === defaultOnStoreLoss(agent.budgetMode) ? 'default' : agent.onStoreLoss,
});

/** Only the fields that differ: an untouched default must not become an explicit value. */
export function changedEnforcement(agent: Agent, { budgetMode, holdMaxOutputTokens, onStoreLoss }: EnforcementInputs) {
  return {
    ...(budgetMode === agent.budgetMode ? {} : { budgetMode }),
    ...(holdMaxOutputTokens === agent.holdMaxOutputTokens || typeof holdMaxOutputTokens !== 'number'
      ? {}
      : { holdMaxOutputTokens }),
    ...(onStoreLoss === enforcementInputs(agent).onStoreLoss
      ? {}
      : { onStoreLoss: onStoreLoss === 'default' ? null : onStoreLoss }),
  };
}

interface EnforcementFieldsProps {
  readonly readOnly: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the form has further fields, which this part does not use
  readonly form: UseFormReturnType<any>;
  readonly errors: FormErrors;
}

export function EnforcementFields({ readOnly, form, errors }: EnforcementFieldsProps) {
  const { budgetMode } = form.values as EnforcementInputs;
  const byDefault = defaultOnStoreLoss(budgetMode) === 'refuse' ? 'reject calls' : 'allow calls';
  return (
    <>
      <Switch
        label={ENFORCEMENT_LABELS.budgetMode}
        description="On: a call passes only if its maximum cost fits into the rest of the budget, so the budget is never exceeded. Off: calls that are running when the budget is used up may exceed it."
        disabled={readOnly}
        checked={budgetMode === 'hard'}
        onChange={(event) => form.setFieldValue('budgetMode', event.currentTarget.checked ? 'hard' : 'soft')}
        error={errors.fieldError('budgetMode')}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
        {budgetMode === 'hard' && (
          <NumberInput
            label={ENFORCEMENT_LABELS.holdMaxOutputTokens}
            description="For calls that state no maximum of their own."
            min={1}
            hideControls
            thousandSeparator=","
            readOnly={readOnly}
            {...form.getInputProps('holdMaxOutputTokens')}
            error={errors.fieldError('holdMaxOutputTokens')}
          />
        )}
        <Select
          label={ENFORCEMENT_LABELS.onStoreLoss}
          description="While the gateway cannot reach the counters of limits and budgets."
          allowDeselect={false}
          readOnly={readOnly}
          data={[
            { value: 'default', label: `Default: ${byDefault}` },
            { value: 'allow', label: 'Allow calls' },
            { value: 'refuse', label: 'Reject calls (503)' },
          ]}
          {...form.getInputProps('onStoreLoss')}
          error={errors.fieldError('onStoreLoss')}
        />
      </SimpleGrid>
    </>
  );
}
