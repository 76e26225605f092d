/** The Overview tab of an agent: its metrics in a period. */
import { Group, SimpleGrid, Stack } from '@mantine/core';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { MetricTile } from '../../components/feedback/metric-tile.js';
import { Trend } from '../../components/feedback/trend.js';
import { PeriodControl, parsePeriod } from '../../components/forms/period-control.js';
import { MonthSpendChart } from '../../components/reports/month-spend-chart.js';
import { usePreviousTotals } from '../../components/reports/previous-totals.js';
import { SpendAndCallsCharts } from '../../components/reports/spend-and-calls-charts.js';
import {
  formatCents,
  formatCount,
  formatMilliseconds,
  formatPercent,
  formatUsd,
  NO_VALUE,
} from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';
import { useAgentMonth } from './use-agent-month.js';

const DEFAULTS = { period: '7d' };
const REFETCH_MS = 30_000;

export function OverviewTab({ agent }: { readonly agent: Agent }) {
  const { values, set } = useUrlState(DEFAULTS);
  const period = parsePeriod(values.period);
  const query = { agentId: agent.id, period };
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const monthQuery = useAgentMonth(agent.id);
  const before = usePreviousTotals(query);
  const against = `previous ${period}`;
  const figures = summary.data;
  // On an error the tiles show a dash, not a loading state.
  const missingValue = summary.error === null ? undefined : NO_VALUE;
  const month = monthQuery.data ?? undefined;
  return (
    <Stack gap="lg">
      <Group justify="flex-end">
        <PeriodControl value={period} onChange={(value) => set({ period: value })} />
      </Group>
      {summary.error !== null && <ErrorAlert error={summary.error} onRetry={summary.refetch} />}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }} spacing="md">
        <MetricTile label="Spend" value={figures ? formatUsd(figures.costUsd) : missingValue}>
          {figures && <Trend now={figures.costUsd} before={before?.costUsd} against={against} />}
        </MetricTile>
        <MetricTile
          label="This month"
          value={month ? formatCents(month.monthCents) : monthQuery.isPending ? undefined : NO_VALUE}
        >
          {month !== undefined && agent.budgetCentsMonthly !== null && (
            <BudgetBar spentCents={month.monthCents} budgetCents={agent.budgetCentsMonthly} isCompact />
          )}
        </MetricTile>
        <MetricTile label="Calls" value={figures ? formatCount(figures.requests) : missingValue}>
          {figures && <Trend now={figures.requests} before={before?.requests} against={against} />}
        </MetricTile>
        <MetricTile label="Errors" value={figures ? formatPercent(figures.errorRate) : missingValue} />
        <MetricTile label="Rejected" value={figures ? formatCount(figures.rejectedRequests) : missingValue} />
        <MetricTile
          label="p95 latency"
          value={figures ? formatMilliseconds(figures.requests === 0 ? null : figures.p95Latency) : missingValue}
        />
      </SimpleGrid>
      <SpendAndCallsCharts scope={{ agentId: agent.id }} period={period} budgets={agent.budgets} />
      <MonthSpendChart scope={{ agentId: agent.id }} />
    </Stack>
  );
}
