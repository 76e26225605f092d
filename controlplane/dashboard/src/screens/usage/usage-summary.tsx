/** Totals of the selected period, its breakdown (`children`), and the month's budget. */
import { Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { BudgetBar } from '../../components/feedback/budget-bar.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { MetricTile } from '../../components/feedback/metric-tile.js';
import { staleProps } from '../../components/feedback/stale-props.js';
import { Trend } from '../../components/feedback/trend.js';
import { MonthSpendChart } from '../../components/reports/month-spend-chart.js';
import { usePreviousTotals } from '../../components/reports/previous-totals.js';
import { formatCents, formatCompactCount, formatCount, formatUsd, NO_VALUE } from '../../format/format.js';
import type { UsageQuery } from './groupings-and-metrics.js';

const PREVIOUS = 'previous period';
const DAY_CHARS = 10;
const utcToday = (): string => new Date().toISOString().slice(0, DAY_CHARS);

interface UsageSummaryProps {
  readonly query: UsageQuery;
  readonly children: ReactNode;
}

export function UsageSummary({ query, children }: UsageSummaryProps) {
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const before = usePreviousTotals(query);
  // Beside the figures of a past month, those of the present one would be misread.
  const isPresent = 'period' in query || query.end === undefined || query.end >= utcToday();
  const figures = summary.data;
  // On an error the tiles show a dash, not a loading state.
  const missingValue = summary.error === null ? undefined : NO_VALUE;
  const forecast = figures?.forecast;
  const daysUntilBudget = forecast?.daysUntilBudget ?? null;
  return (
    <>
      {summary.error !== null && <ErrorAlert error={summary.error} onRetry={summary.refetch} />}
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md" {...staleProps(summary.isPlaceholderData)}>
        <MetricTile label="Spend" value={figures ? formatUsd(figures.costUsd) : missingValue}>
          {figures && <Trend now={figures.costUsd} before={before?.costUsd} against={PREVIOUS} />}
        </MetricTile>
        <MetricTile label="Calls" value={figures ? formatCount(figures.requests) : missingValue}>
          {figures && <Trend now={figures.requests} before={before?.requests} against={PREVIOUS} />}
        </MetricTile>
        <MetricTile
          label="Tokens in"
          value={figures ? formatCompactCount(figures.tokensIn) : missingValue}
        ></MetricTile>
        <MetricTile
          label="Tokens out"
          value={figures ? formatCompactCount(figures.tokensOut) : missingValue}
        ></MetricTile>
      </SimpleGrid>
      {children}
      {figures !== undefined && isPresent && (
        <Card component="section" aria-label="This calendar month" padding="md">
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            <Stack gap={4}>
              <span className="acg-label">Spent this calendar month (UTC)</span>
              <Text size="sm" className="acg-tabular-numbers">
                {formatCents(figures.monthCents)}
              </Text>
            </Stack>
            <Stack gap={4}>
              <span className="acg-label">Budget used</span>
              <BudgetBar spentCents={figures.monthCents} budgetCents={figures.budgetCents} />
            </Stack>
            <Stack gap={4}>
              <span className="acg-label">Projected from the last 24 hours</span>
              <Text size="sm" className="acg-tabular-numbers">
                {forecast
                  ? `${formatCents(forecast.projectedMonthlyCents)} by the end of the month`
                  : 'available after one day'}
              </Text>
              {daysUntilBudget !== null && (
                <Text size="sm" c="var(--acg-warning)">
                  {daysUntilBudget <= 0
                    ? 'The budget is exceeded.'
                    : `The budget lasts ${daysUntilBudget.toFixed(1)} more days.`}
                </Text>
              )}
            </Stack>
          </SimpleGrid>
        </Card>
      )}
      {isPresent && <MonthSpendChart scope={scopeOf(query)} />}
    </>
  );
}

const scopeOf = ({ agentId, projectId }: UsageQuery) => ({
  ...(agentId === undefined ? {} : { agentId }),
  ...(projectId === undefined ? {} : { projectId }),
});
