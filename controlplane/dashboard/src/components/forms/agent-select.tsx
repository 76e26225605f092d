/** Selects one agent, found by its name. */
import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { useAgent } from '../../resources/agent-account-and-key-hooks.js';

const OPTIONS_MAX = 20;
const DEBOUNCE_MS = 200;

interface AgentSelectProps
  extends Pick<SelectProps, 'label' | 'aria-label' | 'placeholder' | 'w' | 'withAsterisk' | 'error'> {
  /** Agent id; empty: none. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

export function AgentSelect({ value, onChange, ...props }: AgentSelectProps) {
  const [text, setText] = useState('');
  const [debouncedText] = useDebouncedValue(text, DEBOUNCE_MS);
  const query = {
    limit: OPTIONS_MAX,
    period: '30d' as const,
    ...(debouncedText === '' ? {} : { search: debouncedText }),
  };
  const agents = useQuery({
    queryKey: ['agents', 'offered', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    placeholderData: keepPreviousData,
  });
  // Until the response arrives, filters the known agents: results of another search text do not match this one.
  const isSearching = debouncedText !== text || agents.isPlaceholderData || agents.isPending;
  const options = (agents.data?.agents ?? [])
    .filter(({ name }) => !isSearching || name.toLowerCase().includes(text.toLowerCase()))
    .map(({ id, name }) => ({ value: id, label: name }));
  const isValueMissing = value !== '' && !options.some((option) => option.value === value);
  const selectedAgent = useAgent(value);
  // A deleted agent has no name: show the beginning of its id.
  if (isValueMissing) options.unshift({ value, label: selectedAgent.data?.name ?? value.slice(0, 8) });
  return (
    <Select
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear agent' }}
      nothingFoundMessage={
        isSearching
          ? 'Searching…'
          : agents.error === null
            ? 'No matching agents'
            : 'The search failed. Type again to retry.'
      }
      filter={({ options: all }) => all}
      data={options}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      // The selected label also appears in the input; it is not a search text.
      onSearchChange={(typed) => setText(options.some(({ label }) => label === typed) ? '' : typed)}
      {...props}
    />
  );
}
