/** Filters of the calls; their state is in the URL. */
import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Search } from 'lucide-react';
import { api } from '../../api/api-client.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { redactTokensInText } from '../../components/forms/redact-tokens-in-text.js';
import type { CallFilters } from './fetch-calls-and-format-fields.js';

const STATUSES = [
  { value: '', label: 'Any status' },
  { value: '2xx', label: '2xx: successful' },
  { value: '4xx', label: '4xx: rejected by the provider' },
  { value: '5xx', label: '5xx: failed' },
];

interface CallFilterBarProps {
  readonly values: CallFilters;
  readonly onChange: (changes: Partial<CallFilters>, options?: { readonly replace?: boolean }) => void;
  readonly onClear: () => void;
  readonly filtered: boolean;
}

export function CallFilterBar({ values, onChange, onClear, filtered }: CallFilterBarProps) {
  const providers = useQuery({
    queryKey: ['providers'],
    queryFn: () => api.get('/v1/providers', { params: { query: { limit: 100 } } }),
    staleTime: 60_000,
  });
  const known = providers.data?.providers.map(({ slug, displayName }) => ({ value: slug, label: displayName })) ?? [];
  const others =
    values.provider === '' || known.some(({ value }) => value === values.provider)
      ? []
      : [{ value: values.provider, label: values.provider }];
  return (
    <Group gap="sm" mb="md" align="flex-end" className="acg-filters">
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
      <TextInput
        label="From"
        type="datetime-local"
        value={values.from}
        onChange={(event) => onChange({ from: event.currentTarget.value })}
      />
      <TextInput
        label="To"
        type="datetime-local"
        value={values.to}
        onChange={(event) => onChange({ to: event.currentTarget.value })}
      />
      {filtered && (
        <Button variant="subtle" onClick={onClear}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}
