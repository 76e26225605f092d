/** Creates an alert rule, or changes one. */
import { Checkbox, NativeSelect, NumberInput, Select } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { NameInput } from '../../components/forms/name-input.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import { type AlertRule, isSilenced, SILENCES, silenceEnd } from './fetch-alert-rules.js';
import { inputToMeasure, METRIC_LABELS, type Metric, measureToInput } from './measures.js';

const LABELS = {
  name: 'Name',
  metric: 'Measure',
  projectId: 'Project',
  agentId: 'Agent',
  windowHours: 'Hours',
  increasePercent: 'Increase',
  atLeast: 'At least',
  silencedUntil: 'Silence',
};
const UNITS: Readonly<Record<Metric, string>> = { error_rate: 'percent', latency: 'milliseconds', spend: 'US dollars' };
const SUGGESTED: Readonly<Record<Metric, number>> = { error_rate: 5, latency: 5_000, spend: 10 };
const KEEP = 'keep';

interface AlertRuleDialogProps {
  /** Null: a new one. */
  readonly rule: AlertRule | null;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function AlertRuleDialog({ rule, onClose, onSaved }: AlertRuleDialogProps) {
  const draft = `alert rule ${rule?.id ?? 'new'}`;
  const projects = useProjects();
  const [name, setName] = useFormDraft(`${draft} name`, rule?.name ?? '');
  const [metric, setMetric] = useFormDraft<Metric>(`${draft} metric`, rule?.metric ?? 'spend');
  const [scope, setScope] = useFormDraft<AlertRule['scope']>(`${draft} scope`, 'org');
  const [projectId, setProjectId] = useFormDraft(`${draft} project`, '');
  const [agentId, setAgentId] = useFormDraft(`${draft} agent`, '');
  const [windowHours, setWindowHours] = useFormDraft<number | string>(`${draft} hours`, rule?.windowHours ?? 1);
  const [increase, setIncrease] = useFormDraft<number | string>(`${draft} increase`, rule?.increasePercent ?? 50);
  const atLeastBefore = rule === null ? SUGGESTED.spend : measureToInput(rule.metric, rule.atLeast);
  const [atLeast, setAtLeast] = useFormDraft<number | string>(`${draft} at least`, atLeastBefore);
  const [enabled, setEnabled] = useFormDraft(`${draft} enabled`, rule?.enabled ?? true);
  const [silence, setSilence] = useFormDraft(`${draft} silence`, KEEP);
  const save = useMutation({
    mutationFn: async () => {
      const condition = {
        name: name.trim(),
        windowHours: Number(windowHours),
        increasePercent: Number(increase),
        // A rule of the API may have fractions of a cent; without a change they stay.
        atLeast: rule !== null && atLeast === atLeastBefore ? rule.atLeast : inputToMeasure(metric, atLeast),
      };
      if (rule === null) {
        const subject = scope === 'agent' ? { agentId } : scope === 'project' ? { projectId } : {};
        await api.post('/v1/alert-rules', { body: { ...condition, metric, ...subject } });
        return;
      }
      const silencedUntil = silence === '' ? null : silenceEnd(Number(silence));
      await api.patch('/v1/alert-rules/{id}', {
        params: { path: { id: rule.id } },
        body: { ...condition, enabled, ...(silence === KEEP ? {} : { silencedUntil }) },
      });
    },
    onSuccess: onSaved,
  });
  const errors = formErrors(save.error, LABELS);
  const isIncomplete =
    (scope === 'agent' && agentId === '') ||
    (scope === 'project' && projectId === '') ||
    [windowHours, increase, atLeast].includes('');
  return (
    <FormDialog
      title={rule === null ? 'New alert rule' : 'Edit alert rule'}
      errors={errors}
      onSubmit={() => save.mutate()}
      action={rule === null ? 'Create alert rule' : 'Save'}
      pending={save.isPending}
      disabled={isIncomplete}
      onClose={onClose}
    >
      <NameInput error={errors.fieldError('name')} placeholder="spend of the day" value={name} onChange={setName} />
      {rule === null && (
        <>
          <NativeSelect
            label="Measure"
            data={Object.entries(METRIC_LABELS).map(([value, label]) => ({ value, label }))}
            error={errors.fieldError('metric')}
            value={metric}
            onChange={(event) => {
              const chosen = event.currentTarget.value as Metric;
              setMetric(chosen);
              setAtLeast(SUGGESTED[chosen]);
            }}
          />
          <NativeSelect
            label="Calls"
            data={[
              { value: 'org', label: 'All calls of the organization' },
              { value: 'project', label: 'Calls of a project' },
              { value: 'agent', label: 'Calls of an agent' },
            ]}
            value={scope}
            onChange={(event) => setScope(event.currentTarget.value as AlertRule['scope'])}
          />
        </>
      )}
      {rule === null && scope === 'project' && projects.error !== null && (
        <ErrorAlert error={projects.error} onRetry={projects.refetch} />
      )}
      {rule === null && scope === 'project' && (
        <Select
          label="Project"
          searchable
          placeholder={projects.isPending ? 'Loading…' : 'Select a project'}
          data={(projects.data ?? []).map((project) => ({ value: project.id, label: project.name }))}
          error={errors.fieldError('projectId')}
          value={projectId === '' ? null : projectId}
          onChange={(id) => setProjectId(id ?? '')}
        />
      )}
      {rule === null && scope === 'agent' && (
        <AgentSelect
          label="Agent"
          placeholder="Search by name"
          error={errors.fieldError('agentId')}
          value={agentId}
          onChange={setAgentId}
        />
      )}
      <NumberInput
        label="Hours"
        description="The last hours, the current one included."
        min={1}
        max={24}
        allowDecimal={false}
        error={errors.fieldError('windowHours')}
        value={windowHours}
        onChange={setWindowHours}
      />
      <NumberInput
        label="Increase"
        description="Percent more than in the same hours of last week."
        min={1}
        max={10_000}
        allowDecimal={false}
        error={errors.fieldError('increasePercent')}
        value={increase}
        onChange={setIncrease}
      />
      <NumberInput
        label="At least"
        description={`In ${UNITS[metric]}. No alert opens below this value. If last week had too few calls, only this value applies.`}
        min={0.01}
        error={errors.fieldError('atLeast')}
        value={atLeast}
        onChange={setAtLeast}
      />
      {rule !== null && (
        <>
          <NativeSelect
            label="Silence"
            data={[
              { value: KEEP, label: isSilenced(rule.silencedUntil) ? 'Keep current silence' : 'Not silenced' },
              ...(isSilenced(rule.silencedUntil) ? [{ value: '', label: 'End silence' }] : []),
              ...SILENCES.map(([label, ms]) => ({ value: String(ms), label: `For ${label}` })),
            ]}
            error={errors.fieldError('silencedUntil')}
            value={silence}
            onChange={(event) => setSilence(event.currentTarget.value)}
          />
          <Checkbox label="Enabled" checked={enabled} onChange={(event) => setEnabled(event.currentTarget.checked)} />
        </>
      )}
    </FormDialog>
  );
}
