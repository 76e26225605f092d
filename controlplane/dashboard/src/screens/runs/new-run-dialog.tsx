/** Starts a run: a task of an agent with a hard budget and an end. */
import { NativeSelect, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { BudgetAmountInput } from '../../components/forms/budget-amount-input.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { dollarInputToCents } from '../../format/format.js';
import { refreshRuns } from './fetch-runs.js';

const LABELS = { agentId: 'Agent', budgetCents: 'Budget', expiresIn: 'Ends after', label: 'Label' };
const LIFETIMES = [
  { value: '1800', label: '30 minutes' },
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
];

interface NewRunDialogProps {
  readonly onClose: () => void;
  readonly onStarted: (secret: string) => void;
}

export function NewRunDialog({ onClose, onStarted }: NewRunDialogProps) {
  const [agentId, setAgentId] = useFormDraft('new run agent', '');
  const [dollars, setDollars] = useFormDraft<number | string>('new run budget', '');
  const [seconds, setSeconds] = useFormDraft('new run end', '3600');
  const [label, setLabel] = useFormDraft('new run label', '');
  const start = useMutation({
    mutationFn: () =>
      api.post('/v1/runs', {
        body: {
          agentId,
          budgetCents: dollarInputToCents(dollars) ?? 0,
          expiresIn: Number(seconds),
          ...(label.trim() === '' ? {} : { label: label.trim() }),
        },
      }),
    gcTime: 0,
    onSuccess: ({ secretKey }) => {
      refreshRuns();
      onStarted(secretKey);
    },
  });
  const errors = formErrors(start.error, LABELS);
  return (
    <FormDialog
      title="New run"
      errors={errors}
      onSubmit={() => start.mutate()}
      action="Start run"
      pending={start.isPending}
      disabled={agentId === '' || dollars === ''}
      onClose={onClose}
    >
      <AgentSelect
        label="Agent"
        placeholder="Search by name"
        error={errors.fieldError('agentId')}
        value={agentId}
        onChange={setAgentId}
      />
      <BudgetAmountInput
        label="Budget"
        description="What the run and its sub-runs may spend together. Calls that do not fit are rejected."
        placeholder="2.50"
        error={errors.fieldError('budgetCents')}
        value={dollars}
        onChange={setDollars}
      />
      <NativeSelect
        label="Ends after"
        data={LIFETIMES}
        error={errors.fieldError('expiresIn')}
        value={seconds}
        onChange={(event) => setSeconds(event.currentTarget.value)}
      />
      <TextInput
        label="Label"
        description="What the run is for."
        placeholder="nightly report"
        error={errors.fieldError('label')}
        value={label}
        onChange={(event) => setLabel(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
