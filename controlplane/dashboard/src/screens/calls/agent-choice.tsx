/** One agent of all that there are, found by its name. */
import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';

const OFFERED = 20;
const TYPING_MS = 200;

interface AgentChoiceProps {
  /** Id; empty: any. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

export function AgentChoice({ value, onChange }: AgentChoiceProps) {
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text, TYPING_MS);
  const query = { limit: OFFERED, period: '30d' as const, ...(asked === '' ? {} : { search: asked }) };
  const agents = useQuery({
    queryKey: ['usage', 'agents', query],
    queryFn: () => api.get('/v1/usage/agents', { params: { query } }),
    staleTime: 30_000,
  });
  const chosen = useQuery({
    queryKey: ['agents', value],
    queryFn: () => api.get('/v1/agents/{id}', { params: { path: { id: value } } }),
    enabled: value !== '',
    staleTime: 60_000,
  });
  const options = (agents.data?.agents ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const own = chosen.data?.agent;
  if (value !== '' && !options.some((option) => option.value === value)) {
    options.unshift({ value, label: own?.name ?? value.slice(0, 8) });
  }
  return (
    <Select
      label="Agent"
      placeholder="Any agent"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Any agent' }}
      nothingFoundMessage="No such agent"
      filter={({ options: all }) => all}
      data={options}
      value={value === '' ? null : value}
      onChange={(id) => onChange(id ?? '')}
      onSearchChange={setText}
      w={200}
    />
  );
}
