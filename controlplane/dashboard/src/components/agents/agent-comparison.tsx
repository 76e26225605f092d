/** Compares agents: a chart over time, and a table with budgets and projected spend. */
import { Anchor, Button, Card, Group, Stack, Text, Title } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import {
  formatCount,
  formatMilliseconds,
  formatPercent,
  formatUsd,
  formatUsdTick,
  NO_VALUE,
} from '../../format/format.js';
import { groupsToSeries } from '../charts/groups-to-series.js';
import { TimeSeriesChart } from '../charts/time-series-chart.js';
import { EmptyState } from '../feedback/empty-state.js';
import { AgentSelect } from '../forms/agent-select.js';
import type { parseTimeRange } from '../forms/time-range-control.js';
import { barInterval } from '../reports/bar-interval.js';
import { DataTable } from '../tables/data-table.js';

interface AgentComparisonProps {
  readonly range: ReturnType<typeof parseTimeRange>;
  /** Heading of the table. */
  readonly title: string;
  readonly ids: readonly string[];
  /** Metric of the chart. */
  readonly metric: 'spend' | 'requests';
  readonly onChange: (ids: readonly string[]) => void;
}

type ComparisonQuery = NonNullable<Parameters<typeof api.get<'/v1/usage/agents/compare'>>[1]>['params']['query'];
const fetchComparison = (query: ComparisonQuery) => api.get('/v1/usage/agents/compare', { params: { query } });

export function AgentComparison({ title, range, ids, metric, onChange }: AgentComparisonProps) {
  const series = barInterval(range);
  const query = { ...range, agentIds: ids.join(','), series };
  const compared = useQuery({
    queryKey: ['agents', 'compare', query],
    queryFn: () => fetchComparison(query),
    enabled: ids.length > 0,
    placeholderData: keepPreviousData,
  });
  return (
    <Stack gap="lg">
      {compared.data?.buckets !== undefined && ids.length > 0 && (
        <ComparisonChart compared={compared.data} stale={compared.isPlaceholderData} interval={series} show={metric} />
      )}
      <Card component="section" aria-labelledby="compare">
        <Stack gap="md">
          <Group justify="space-between" align="flex-end" gap="sm">
            <div>
              <Title order={2} id="compare">
                {title}
              </Title>
              <Text size="sm" c="dimmed">
                Usage in the same period, with each agent’s budget and its projected spend this month.
              </Text>
            </div>
            <AgentSelect
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
                { header: 'Spend', numeric: true, cell: ({ costUsd }) => formatUsd(costUsd) },
                { header: 'Calls', numeric: true, cell: ({ totalRequests }) => formatCount(totalRequests) },
                {
                  header: 'Errors',
                  numeric: true,
                  cell: ({ totalRequests, errorRate }) => (totalRequests === 0 ? NO_VALUE : formatPercent(errorRate)),
                },
                { header: 'Rejected', numeric: true, cell: ({ rejectedRequests }) => formatCount(rejectedRequests) },
                {
                  header: 'p95',
                  numeric: true,
                  cell: ({ totalRequests, p95Latency }) => formatMilliseconds(totalRequests === 0 ? null : p95Latency),
                  wideOnly: true,
                },
                {
                  header: 'Budget',
                  numeric: true,
                  cell: ({ budgetUsd }) => (budgetUsd === null ? 'No budget' : formatUsd(budgetUsd)),
                },
                {
                  header: 'Projected this month',
                  numeric: true,
                  cell: ({ projectedMonthlyUsd }) => formatUsd(projectedMonthlyUsd),
                },
                {
                  header: 'Actions',
                  cell: ({ agentId, agentName }) => (
                    <Group justify="flex-end">
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={`Remove ${agentName}`}
                        onClick={() => onChange(ids.filter((id) => id !== agentId))}
                      >
                        Remove
                      </Button>
                    </Group>
                  ),
                },
              ]}
              empty={<EmptyState title="These agents no longer exist" />}
            />
          )}
        </Stack>
      </Card>
    </Stack>
  );
}

interface ComparisonChartProps {
  readonly compared: Awaited<ReturnType<typeof fetchComparison>>;
  readonly stale: boolean;
  readonly interval: 'hour' | 'day';
  readonly show: AgentComparisonProps['metric'];
}

function ComparisonChart({ compared, stale, interval, show }: ComparisonChartProps) {
  const buckets = compared.buckets ?? [];
  const lines = useMemo(
    () =>
      groupsToSeries(
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
    <TimeSeriesChart
      title={show === 'spend' ? 'Spend by agent' : 'Calls by agent'}
      stale={stale}
      buckets={buckets}
      interval={interval}
      series={lines}
      {...(show === 'spend' ? { format: formatUsd, axis: formatUsdTick } : { format: formatCount })}
      kind="line"
    />
  );
}
