/** Some agents side by side: over time, and with their budgets and where they are heading. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api } from '../api/api.js';
import { count, milliseconds, NONE, percent, usd, usdTick } from '../format/format.js';
import { AgentChoice } from './agent-choice.js';
import { Chart } from './chart.js';
import { DataTable } from './data-table.js';
import { seriesOfGroups } from './group-series.js';
import { Nothing } from './nothing.js';
import type { rangeOf } from './range-control.js';

interface CompareAgentsProps {
  readonly range: ReturnType<typeof rangeOf>;
  /** Over the figures. */
  readonly title: string;
  readonly ids: readonly string[];
  /** Of the chart. */
  readonly show: 'spend' | 'requests';
  readonly onChange: (ids: readonly string[]) => void;
}

type Compared = NonNullable<Parameters<typeof api.get<'/v1/usage/agents/compare'>>[1]>['params']['query'];
const readCompared = (query: Compared) => api.get('/v1/usage/agents/compare', { params: { query } });

export function CompareAgents({ title, range, ids, show, onChange }: CompareAgentsProps) {
  const series = seriesInterval(range);
  const query = { ...range, agentIds: ids.join(','), series };
  const compared = useQuery({
    queryKey: ['agents', 'compare', query],
    queryFn: () => readCompared(query),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack gap="lg">
      {compared.data?.buckets !== undefined && ids.length > 0 && (
        <OverTime compared={compared.data} stale={compared.isPlaceholderData} interval={series} show={show} />
      )}
      <Card component="section" aria-labelledby="compare">
        <Stack gap="md">
          <Group justify="space-between" align="flex-end" gap="sm">
            <div>
              <Title order={2} id="compare">
                {title}
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
                    <Anchor
                      component={Link}
                      href={`/agents/${agentId}`}
                      inherit
                      underline="always"
                      className="acg-name"
                    >
                      {agentName}
                    </Anchor>
                  ),
                },
                { header: 'Spend', numeric: true, cell: ({ costUsd }) => usd(costUsd) },
                { header: 'Calls', numeric: true, cell: ({ totalRequests }) => count(totalRequests) },
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
    </Stack>
  );
}

/** A week by the hour; days that were chosen, and what is longer, by the day. */
const seriesInterval = (range: ReturnType<typeof rangeOf>): 'hour' | 'day' =>
  'period' in range && (range.period === '24h' || range.period === '7d') ? 'hour' : 'day';

interface OverTimeProps {
  readonly compared: Awaited<ReturnType<typeof readCompared>>;
  readonly stale: boolean;
  readonly interval: 'hour' | 'day';
  readonly show: CompareAgentsProps['show'];
}

function OverTime({ compared, stale, interval, show }: OverTimeProps) {
  const buckets = compared.buckets ?? [];
  const lines = useMemo(
    () =>
      seriesOfGroups(
        compared.agents.map(({ agentId, agentName, series }) => ({
          value: agentId,
          name: agentName,
          timeseries: (show === 'spend' ? series?.costUsd : series?.requests) ?? [],
        })),
        (value, name) => name ?? value,
        (figure) => figure,
      ),
    [compared, show],
  );
  return (
    <Chart
      title={show === 'spend' ? 'Spend of each' : 'Calls of each'}
      stale={stale}
      buckets={buckets}
      interval={interval}
      series={lines}
      {...(show === 'spend' ? { format: usd, axis: usdTick } : { format: count })}
      kind="line"
    />
  );
}
