/** Some agents side by side, with their budgets and where they are heading. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { count, milliseconds, NONE, percent, usd } from '../../format/format.js';
import { AgentChoice } from '../../parts/agent-choice.js';
import { DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import type { rangeOf } from '../../parts/range-control.js';

interface CompareAgentsProps {
  readonly range: ReturnType<typeof rangeOf>;
  readonly ids: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
}

export function CompareAgents({ range, ids, onChange }: CompareAgentsProps) {
  const query = { ...range, agentIds: ids.join(',') };
  const compared = useQuery({
    queryKey: ['agents', 'compare', query],
    queryFn: () => api.get('/v1/usage/agents/compare', { params: { query } }),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return (
    <Card component="section" aria-labelledby="compare">
      <Stack gap="md">
        <Group justify="space-between" align="flex-end" gap="sm">
          <div>
            <Title order={2} id="compare">
              Compare agents
            </Title>
            <Text size="sm" c="dimmed">
              In the same time, each with its budget and what the month will cost at its present rate.
            </Text>
          </div>
          <AgentChoice
            key={ids.length}
            aria-label="Add an agent"
            placeholder="Add an agent"
            w={220}
            value=""
            onChange={(id) => id !== '' && !ids.includes(id) && onChange([...ids, id])}
          />
        </Group>
        {ids.length > 0 && (
          <DataTable
            label="Agents compared"
            query={compared}
            rows={(data) => data.agents}
            rowKey={({ agentId }) => agentId}
            columns={[
              {
                header: 'Agent',
                cell: ({ agentId, agentName }) => (
                  <Anchor component={Link} href={`/agents/${agentId}`} inherit underline="always">
                    {agentName}
                  </Anchor>
                ),
              },
              { header: 'Spend', numeric: true, cell: ({ costUsd }) => usd(costUsd) },
              { header: 'Requests', numeric: true, cell: ({ totalRequests }) => count(totalRequests) },
              {
                header: 'Errors',
                numeric: true,
                cell: ({ totalRequests, errorRate }) => (totalRequests === 0 ? NONE : percent(errorRate)),
              },
              { header: 'Refused', numeric: true, cell: ({ rejectedRequests }) => count(rejectedRequests) },
              {
                header: 'p95',
                numeric: true,
                cell: ({ totalRequests, p95Latency }) => milliseconds(totalRequests === 0 ? null : p95Latency),
                wideOnly: true,
              },
              {
                header: 'Budget',
                numeric: true,
                cell: ({ budgetUsd }) => (budgetUsd === null ? 'no budget' : usd(budgetUsd)),
              },
              {
                header: 'Month, projected',
                numeric: true,
                cell: ({ projectedMonthlyUsd }) => usd(projectedMonthlyUsd),
              },
              {
                header: 'Remove',
                cell: ({ agentId, agentName }) => (
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Remove ${agentName}`}
                    onClick={() => onChange(ids.filter((id) => id !== agentId))}
                  >
                    Remove
                  </Button>
                ),
              },
            ]}
            empty={<Nothing title="None of these agents is there any more" />}
          />
        )}
      </Stack>
    </Card>
  );
}
