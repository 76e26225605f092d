/** One agent of all that there are, found by its name. */
import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api/api.js';

const OFFERED = 20;
const TYPING_MS = 200;

interface AgentChoiceProps
  extends Pick<SelectProps, 'label' | 'aria-label' | 'placeholder' | 'w' | 'withAsterisk' | 'error'> {
  /** Id; empty: none. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

export function AgentChoice({ value, onChange, ...props }: AgentChoiceProps) {
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, TYPING_MS);
  const query = { limit: OFFERED, period: '30d' as const, ...(asked === '' ? {} : { search: asked }) };
  const agents = useQuery({
    queryKey: ['agents', 'offered', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    placeholderData: keepPreviousData,
  });
  // Until the answer is here, of those that are known: what was found for another text is none for this one.
  const looking = asked !== text || agents.isPlaceholderData || agents.isPending;
  const options = (agents.data?.agents ?? [])
    .filter(({ name }) => !looking || name.toLowerCase().includes(text.toLowerCase()))
    .map(({ id, name }) => ({ value: id, label: name }));
  const missing = value !== '' && !options.some((option) => option.value === value);
  const chosen = useQuery({
    queryKey: ['agents', 'named', value],
    queryFn: () => api.get('/v1/agents/{id}', { params: { path: { id: value } } }),
    enabled: missing && agents.data !== undefined,
    staleTime: 60_000,
  });
  // One that is deleted has no name any more.
  if (missing) options.unshift({ value, label: chosen.data?.agent.name ?? value.slice(0, 8) });
  return (
    <Select
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'No agent' }}
      nothingFoundMessage={
        looking ? 'Looking …' : agents.error === null ? 'No such agent' : 'They could not be looked up: type again'
      }
      filter={({ options: all }) => all}
      data={options}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      // What is chosen stands in the field as well: that is not asked for.
      onSearchChange={(typed) => setText(options.some(({ label }) => label === typed) ? '' : typed)}
      {...props}
    />
  );
}
