/** Agents or providers with the highest spend in a period; bars are relative to the highest. */
import { Anchor, Card, Group, Progress, Skeleton, Stack, Text, Title } from '@mantine/core';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import type { Period } from '../../components/forms/period-control.js';
import { formatCount, formatUsd } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';

const ROWS_SHOWN = 5;

interface SpendRankingProps {
  readonly by: 'agent' | 'provider';
  readonly title: string;
  readonly period: Period;
  readonly hrefOf?: (value: string) => string;
}

/** Also has the sums of the previous period, which the overview's tiles show: one request for both. */
export function useSpendRanking(by: SpendRankingProps['by'], period: Period) {
  const query = { by, period, compare: 'previous', limit: ROWS_SHOWN } as const;
  return useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => api.get('/v1/usage/breakdown', { params: { query } }),
    refetchInterval: 60_000,
  });
}

export function AgentOrProviderSpendRanking({ by, title, period, hrefOf }: SpendRankingProps) {
  const breakdown = useSpendRanking(by, period);
  // Both values are known for groups that have a cost.
  const rows = (breakdown.data?.rows ?? []).map((row) => ({
    ...row,
    name: row.name ?? (by === 'provider' ? providerLabel(row.value) : row.value),
    costUsd: row.costUsd ?? 0,
    requests: row.requests ?? 0,
  }));
  const maxCostUsd = Math.max(...rows.map(({ costUsd }) => costUsd), 0);
  return (
    <Card component="section" aria-label={title}>
      <Title order={2} mb="md">
        {title}
      </Title>
      {breakdown.isPending && <Skeleton h={160} />}
      {breakdown.error !== null && <ErrorAlert error={breakdown.error} onRetry={breakdown.refetch} />}
      {breakdown.data !== undefined && rows.length === 0 && <EmptyState title="No spend in this period" />}
      <Stack gap="sm">
        {rows.map(({ value, name, costUsd, requests }) => (
          <div key={value}>
            <Group justify="space-between" gap="sm" wrap="nowrap" mb={4}>
              <Text size="sm" truncate>
                {hrefOf === undefined ? (
                  name
                ) : (
                  <Anchor component={Link} href={hrefOf(value)} inherit>
                    {name}
                  </Anchor>
                )}
              </Text>
              <Text size="sm" className="acg-tabular-numbers" flex="none">
                {formatUsd(costUsd)}{' '}
                <Text span size="xs" c="dimmed">
                  {formatCount(requests)} {requests === 1 ? 'call' : 'calls'}
                </Text>
              </Text>
            </Group>
            <Progress
              value={maxCostUsd === 0 ? 0 : (costUsd / maxCostUsd) * 100}
              size="sm"
              aria-label={`${name}: ${formatUsd(costUsd)}`}
            />
          </div>
        ))}
      </Stack>
    </Card>
  );
}
