/** Sums of the time that is looked at, and the month's budget. */
import { Card, SimpleGrid, Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { cents, count, countShort, NONE, usd } from '../../format/format.js';
import { BudgetBar } from '../../parts/budget-bar.js';
import { Failure } from '../../parts/failure.js';
import { staleIf } from '../../parts/stale.js';
import { Tile } from '../../parts/tile.js';
import type { UsageQuery } from './usage-query.js';

export function Sums({ query }: { readonly query: UsageQuery }) {
  const summary = useQuery({
    queryKey: ['usage', 'summary', query],
    queryFn: () => api.get('/v1/usage/summary', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
  });
  const figures = summary.data;
  // Figures that are not to be had do not look as if they came.
  const none = summary.error === null ? undefined : NONE;
  const forecast = figures?.forecast;
  const ends = forecast?.daysUntilBudget ?? null;
  return (
    <>
      {summary.error !== null && <Failure error={summary.error} onRetry={summary.refetch} />}
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="md" {...staleIf(summary.isPlaceholderData)}>
        <Tile label="Spend" value={figures ? usd(figures.costUsd) : none} />
        <Tile label="Calls" value={figures ? count(figures.requests) : none} />
        <Tile label="Tokens in" value={figures ? countShort(figures.tokensIn) : none} />
        <Tile label="Tokens out" value={figures ? countShort(figures.tokensOut) : none} />
      </SimpleGrid>
      {figures !== undefined && (
        <Card component="section" aria-label="This calendar month" padding="md">
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="md">
            <Stack gap={4}>
              <span className="acg-label">Spent this calendar month (UTC)</span>
              <Text size="sm" className="acg-numbers">
                {cents(figures.monthCents)}
              </Text>
            </Stack>
            <Stack gap={4}>
              <span className="acg-label">Of the budget</span>
              <BudgetBar spentCents={figures.monthCents} budgetCents={figures.budgetCents} />
            </Stack>
            <Stack gap={4}>
              <span className="acg-label">At the last 24 hours’ rate</span>
              <Text size="sm" className="acg-numbers">
                {forecast
                  ? `${cents(forecast.projectedMonthlyCents)} by the end of the month`
                  : 'projected once it is a day old'}
              </Text>
              {ends !== null && (
                <Text size="sm" c="var(--acg-warn)">
                  {ends <= 0 ? 'The budget is used up.' : `The budget lasts ${ends.toFixed(1)} days more.`}
                </Text>
              )}
            </Stack>
          </SimpleGrid>
        </Card>
      )}
    </>
  );
}
