/** Selects agents, then sets their budget thresholds. */
import { Button, Group, Modal, Skeleton, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { BulkBudgetThresholdsDialog } from '../../components/agents/bulk-budget-thresholds-dialog.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { RestoreFocusOnClose } from '../../components/focus/restore-focus-on-close.js';
import { SearchInput } from '../../components/forms/search-input.js';
import { formatCount } from '../../format/format.js';
import { invalidateAgents, setUsageThresholds } from '../../resources/agent-status-and-threshold-changes.js';

const AGENTS_SHOWN = 20;

const fetchAgents = (search: string) =>
  api.get('/v1/usage/agents', { params: { query: { limit: AGENTS_SHOWN, sort: 'monthCents', search } } });
type Agent = Awaited<ReturnType<typeof fetchAgents>>['agents'][number];

export function SelectAgentsAndThresholdsDialog({ onClose }: { readonly onClose: () => void }) {
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<ReadonlyMap<string, Agent>>(new Map());
  const [choosing, setChoosing] = useState(true);
  const agents = useQuery({
    queryKey: ['agents', 'thresholds', search],
    queryFn: () => fetchAgents(search),
    placeholderData: keepPreviousData,
  });
  if (!choosing)
    return (
      <BulkBudgetThresholdsDialog
        agents={[...chosen.values()]}
        save={setUsageThresholds}
        onDone={invalidateAgents}
        onClose={onClose}
      />
    );
  const agentsShown = agents.data?.agents ?? [];
  const moreCount = (agents.data?.total ?? 0) - agentsShown.length;
  const toggle = (agent: Agent) => {
    const next = new Map(chosen);
    if (!next.delete(agent.id)) next.set(agent.id, agent);
    setChosen(next);
  };
  return (
    <Modal opened onClose={onClose} title="Budget thresholds" size="lg">
      <RestoreFocusOnClose />
      <Stack gap="md">
        <Text size="sm">Select agents. Agents with the highest spend this month come first.</Text>
        <Group>
          <SearchInput label="Search agents" placeholder="Name or id" value={search} onChange={setSearch} />
        </Group>
        {agents.error !== null && <ErrorAlert error={agents.error} onRetry={agents.refetch} />}
        {agents.isPending && <Skeleton h={160} />}
        {agents.data !== undefined && agentsShown.length === 0 && <EmptyState title="No matching agents" />}
        <ul className="acg-plain-list acg-checkbox-list">
          {agentsShown.map((agent) => (
            <li key={agent.id}>
              <label>
                <input
                  type="checkbox"
                  className="acg-checkbox"
                  checked={chosen.has(agent.id)}
                  onChange={() => toggle(agent)}
                />
                <Text size="sm" fw={600} className="acg-break-anywhere">
                  {agent.name}
                </Text>
                <Text size="sm" c="dimmed" ml="auto" miw="4rem" ta="right">
                  {agent.usageThresholds.length === 0
                    ? 'no thresholds'
                    : `at ${agent.usageThresholds.map((n) => `${n}%`).join(', ')}`}
                </Text>
              </label>
            </li>
          ))}
        </ul>
        {moreCount > 0 && (
          <Text size="sm" c="dimmed">
            {formatCount(moreCount)} more. Search to find them.
          </Text>
        )}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={chosen.size === 0} onClick={() => setChoosing(false)}>
            {chosen.size === 0 ? 'Continue' : `Continue with ${chosen.size}`}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
