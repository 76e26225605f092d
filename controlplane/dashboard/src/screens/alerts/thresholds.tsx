/** Chooses agents, then the percents of their budgets at which somebody is told. */
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api.js';
import { count } from '../../format/format.js';
import { BulkThresholds } from '../../parts/bulk-thresholds.js';
import { Failure } from '../../parts/failure.js';
import { FocusBack } from '../../parts/focus-back.js';
import { Nothing } from '../../parts/nothing.js';
import { SearchInput } from '../../parts/search-input.js';
import { agentsChanged, setThresholds } from '../../resources/agent-changes.js';

const OFFERED = 20;

const readAgents = (search: string) =>
  api.get('/v1/usage/agents', { params: { query: { limit: OFFERED, sort: 'monthCents', search } } });
type Agent = Awaited<ReturnType<typeof readAgents>>['agents'][number];

export function Thresholds({ onClose }: { readonly onClose: () => void }) {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, Agent>>(new Map());
  const [choosing, setChoosing] = useState(true);
  const agents = useQuery({
    queryKey: ['agents', 'thresholds', search],
    queryFn: () => readAgents(search),
    placeholderData: keepPreviousData,
  });
  if (!choosing)
    return (
      <BulkThresholds agents={[...chosen.values()]} save={setThresholds} onDone={agentsChanged} onClose={onClose} />
    );
  const offered = agents.data?.agents ?? [];
  const more = (agents.data?.total ?? 0) - offered.length;
  const toggle = (agent: Agent) => {
    const next = new Map(chosen);
    if (!next.delete(agent.id)) next.set(agent.id, agent);
    setChosen(next);
  };
  return (
    <Modal opened onClose={onClose} title="Budget thresholds" size="lg">
      <FocusBack />
      <Stack gap="md">
        <Text size="sm">Of which agents? Those that spent most this month come first.</Text>
        <Group>
          <SearchInput label="Search agents" placeholder="Name or id" value={search} onChange={setSearch} />
        </Group>
        {agents.error !== null && <Failure error={agents.error} onRetry={agents.refetch} />}
        {agents.isPending && <Skeleton h={160} />}
        {agents.data !== undefined && offered.length === 0 && <Nothing title="No such agent" />}
        <ul className="acg-plain-list acg-choices">
          {offered.map((agent) => (
            <li key={agent.id}>
              <label>
                <input
                  type="checkbox"
                  className="acg-tick"
                  checked={chosen.has(agent.id)}
                  onChange={() => toggle(agent)}
                />
                <Text size="sm" fw={600} className="acg-break">
                  {agent.name}
                </Text>
                <Text size="sm" c="dimmed" ml="auto" miw="4rem" ta="right">
                  {agent.usageThresholds.length === 0
                    ? 'nobody is told'
                    : `at ${agent.usageThresholds.map((n) => `${n}%`).join(', ')}`}
                </Text>
              </label>
            </li>
          ))}
        </ul>
        {more > 0 && (
          <Text size="sm" c="dimmed">
            {count(more)} more: search for them.
          </Text>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={chosen.size === 0} onClick={() => setChoosing(false)}>
            {chosen.size === 0 ? 'Go on' : `Go on with ${chosen.size}`}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
