/** The Limits tab of an agent: budget, alert thresholds and rate limits. */
import { AGENT_LIMITS, RATE_LIMITS, type RateLimit } from '@acg/base/limit-definitions';
import { Button, Card, Group, NumberInput, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { useMissingRoleReason } from '../../api/session.js';
import { BudgetRowsSection } from '../../components/budgets/budget-rows-section.js';
import { RoleGuardedButton } from '../../components/buttons/role-guarded-button.js';
import { showToast } from '../../components/feedback/toast.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { BudgetThresholdInput, validateThresholds } from '../../components/forms/budget-threshold-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { centsToDollarInput, dollarInputToCents } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { type Agent, useUpdateAgent } from '../../resources/agent-account-and-key-hooks.js';
import { AuditModeCard } from './audit-mode-card.js';
import { describeRateLimitFields } from './describe-rate-limit-fields.js';
import { changedEnforcement, ENFORCEMENT_LABELS, EnforcementFields, enforcementInputs } from './enforcement-fields.js';
import { MonthSpendHint } from './month-spend-hint.js';

const ReplayDialog = lazyComponent(async () => (await import('./replay-dialog.js')).ReplayDialog, null);

/** The address opens the dialog, so that the command palette can. */
const REPLAY_CLOSED = { replay: '' };
const numberOrNull = (value: number | string): number | null => (typeof value === 'number' ? value : null);

const LABELS = {
  ...Object.fromEntries(AGENT_LIMITS.map(({ field, label }) => [field, label])),
  usageThresholds: 'Alert thresholds',
  ...ENFORCEMENT_LABELS,
};

/** Builds a record with one value per rate limit, keyed by its API field. */
const mapRateLimits = <T,>(createValue: (row: RateLimit) => T) =>
  Object.fromEntries(RATE_LIMITS.map((row) => [row.field, createValue(row)])) as { [field in RateLimit['field']]: T };

export function LimitsTab({ agent }: { readonly agent: Agent }) {
  const change = useUpdateAgent(agent.id);
  const saveBudgets = useUpdateAgent(agent.id);
  const { values, set } = useUrlState(REPLAY_CLOSED);
  const readOnly = useMissingRoleReason('admin') !== null;
  const [draft, saveDraft] = useFormDraft(`limits of ${agent.id}`, {
    budget: centsToDollarInput(agent.budgetCentsMonthly) as number | string,
    thresholds: agent.usageThresholds.map(String),
    ...mapRateLimits(({ field }): number | string => agent[field] ?? ''),
    ...enforcementInputs(agent),
  });
  const form = useForm({
    initialValues: draft,
    onValuesChange: saveDraft,
    validate: {
      thresholds: validateThresholds,
    },
  });
  const save = form.onSubmit(({ budget, thresholds, budgetMode, holdMaxOutputTokens, onStoreLoss, ...rates }) =>
    change.mutate(
      {
        ...changedEnforcement(agent, { budgetMode, holdMaxOutputTokens, onStoreLoss }),
        budgetCentsMonthly: dollarInputToCents(budget),
        ...mapRateLimits(({ field }) => numberOrNull(rates[field])),
        usageThresholds: thresholds.map(Number),
      },
      {
        onSuccess: () => {
          showToast('Limits saved');
          form.resetDirty();
        },
      },
    ),
  );
  const numbers = { min: 0, hideControls: true, readOnly, thousandSeparator: ',' };
  const errors = formErrors(change.error, LABELS);
  return (
    <Stack gap="lg">
      <form onSubmit={save}>
        <Card maw={760}>
          <Stack gap="lg">
            {errors.formError}
            <div>
              <Title order={2}>Budget</Title>
              <Text size="sm" c="dimmed">
                Calls over the budget are rejected until the end of the month (UTC).
              </Text>
            </div>
            <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="md">
              <BudgetAmountInput
                label="Monthly budget (USD)"
                readOnly={readOnly}
                description={<MonthSpendHint agent={agent} budgetCents={dollarInputToCents(form.values.budget)} />}
                inputWrapperOrder={['label', 'input', 'description', 'error']}
                {...form.getInputProps('budget')}
                error={errors.fieldError('budgetCentsMonthly')}
              />
              <BudgetThresholdInput
                readOnly={readOnly}
                {...form.getInputProps('thresholds')}
                error={form.errors.thresholds ?? errors.fieldError('usageThresholds')}
              />
            </SimpleGrid>
            <EnforcementFields readOnly={readOnly} form={form} errors={errors} />
            <Group justify="space-between" align="flex-start">
              <div>
                <Title order={2}>Rate limits</Title>
                <Text size="sm" c="dimmed">
                  {describeRateLimitFields(RATE_LIMITS)}
                </Text>
              </div>
              <Button variant="default" onClick={() => set({ replay: 'open' })}>
                Replay limits…
              </Button>
            </Group>
            <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
              {RATE_LIMITS.map(({ field, label, default: fallback }) => (
                <NumberInput
                  key={field}
                  label={label}
                  {...(fallback === null ? { placeholder: 'No limit' } : {})}
                  {...numbers}
                  {...form.getInputProps(field)}
                  error={errors.fieldError(field)}
                />
              ))}
            </SimpleGrid>
            <Group justify="flex-end">
              <RoleGuardedButton requiredRole="admin" type="submit" loading={change.isPending}>
                Save limits
              </RoleGuardedButton>
            </Group>
          </Stack>
        </Card>
      </form>
      <BudgetRowsSection rows={agent.budgets} save={(budgets) => saveBudgets.mutateAsync({ budgets })} />
      <AuditModeCard agent={agent} />
      {values.replay !== '' && <ReplayDialog agent={agent} onClose={() => set({ replay: '' })} />}
    </Stack>
  );
}
