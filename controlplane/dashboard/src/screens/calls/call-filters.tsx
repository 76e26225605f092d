/** Filters of the calls; their state is in the URL. */
import { NativeSelect, TextInput } from '@mantine/core';
import { Search } from 'lucide-react';
import { api } from '../../api/api-client.js';
import { useMissingRoleReason } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { FilterBar } from '../../components/forms/filter-bar.js';
import { redactTokensInText } from '../../components/forms/redact-tokens-in-text.js';
import { formatTimeInput, parseTimeInput } from '../../format/format.js';
import { timeZoneUnit } from '../../format/time-zone.js';
import { useProjects } from '../../resources/agent-account-and-key-hooks.js';
import type { CallFilters } from './fetch-calls-and-format-fields.js';

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: '2xx', label: '2xx: successful' },
  { value: '4xx', label: '4xx: rejected by the provider' },
  { value: '5xx', label: '5xx: failed' },
];

const STATES = [
  { value: '', label: 'All calls' },
  { value: 'forwarded', label: 'Forwarded' },
  { value: 'rejected', label: 'Rejected' },
];

/** US cents. */
const COSTS = [
  { value: '', label: 'Any cost' },
  { value: '1', label: 'from $0.01' },
  { value: '10', label: 'from $0.10' },
  { value: '100', label: 'from $1' },
  { value: '1000', label: 'from $10' },
];

interface InstantInputProps {
  readonly label: string;
  /** ISO instant, in the address; empty: none. */
  readonly value: string;
  readonly onChange: (iso: string) => void;
}

/** The user chooses a time in the zone of the screens; the address gets the instant. */
function InstantInput({ label, value, onChange }: InstantInputProps) {
  const ms = Date.parse(value);
  return (
    <TextInput
      label={`${label} (${timeZoneUnit(Number.isNaN(ms) ? Date.now() : ms)})`}
      type="datetime-local"
      value={Number.isNaN(ms) ? '' : formatTimeInput(new Date(ms))}
      onChange={({ currentTarget }) => {
        const chosen = parseTimeInput(currentTarget.value);
        onChange(Number.isNaN(chosen) ? '' : new Date(chosen).toISOString());
      }}
    />
  );
}

interface CallFilterBarProps {
  readonly values: CallFilters;
  readonly isFiltered: boolean;
  readonly onChange: (changes: Partial<CallFilters>, options?: { readonly replace?: boolean }) => void;
}

export function CallFilterBar({ values, isFiltered, onChange }: CallFilterBarProps) {
  const providers = useQuery({
    queryKey: ['providers'],
    queryFn: () => api.get('/v1/providers', { params: { query: { limit: 100 } } }),
    staleTime: 60_000,
  });
  const projects = useProjects();
  const mayListRejected = useMissingRoleReason('admin') === null;
  const known = providers.data?.providers.map(({ slug, displayName }) => ({ value: slug, label: displayName })) ?? [];
  const others =
    values.provider === '' || known.some(({ value }) => value === values.provider)
      ? []
      : [{ value: values.provider, label: values.provider }];
  return (
    <FilterBar isFiltered={isFiltered}>
      <TextInput
        label="Search"
        placeholder="Path, model, error or request id"
        leftSection={<Search size={14} aria-hidden />}
        flex="1 1 220px"
        value={values.search}
        onChange={(event) => onChange({ search: redactTokensInText(event.currentTarget.value) }, { replace: true })}
      />
      <AgentSelect
        label="Agent"
        placeholder="Any agent"
        w={200}
        value={values.agent}
        onChange={(agent) => onChange({ agent })}
      />
      <NativeSelect
        label="Provider"
        w={160}
        data={[{ value: '', label: 'Any provider' }, ...known, ...others]}
        value={values.provider}
        onChange={(event) => onChange({ provider: event.currentTarget.value })}
      />
      <NativeSelect
        label="Status"
        w={190}
        data={STATUSES}
        value={STATUSES.some(({ value }) => value === values.status) ? values.status : ''}
        onChange={(event) => onChange({ status: event.currentTarget.value })}
      />
      {mayListRejected && (
        <NativeSelect
          label="Outcome"
          w={190}
          data={STATES}
          value={values.state}
          onChange={(event) => onChange({ state: event.currentTarget.value, reason: '' })}
        />
      )}
      <NativeSelect
        label="Project"
        w={160}
        data={[
          { value: '', label: 'Any project' },
          ...(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
        ]}
        value={values.project}
        onChange={(event) => onChange({ project: event.currentTarget.value })}
      />
      <NativeSelect
        label="Cost"
        w={130}
        data={COSTS}
        value={COSTS.some(({ value }) => value === values.minCost) ? values.minCost : ''}
        onChange={(event) => onChange({ minCost: event.currentTarget.value })}
      />
      <InstantInput label="From" value={values.from} onChange={(from) => onChange({ from })} />
      <InstantInput label="To" value={values.to} onChange={(to) => onChange({ to })} />
    </FilterBar>
  );
}
