/** Spend and calls of one object in a period: tiles with their trend, charts, and a table by a dimension. */
import { Anchor, Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { formatCount, formatPercent, formatUsd, NO_VALUE } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { EmptyState } from '../feedback/empty-state.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { MetricTile } from '../feedback/metric-tile.js';
import { Trend } from '../feedback/trend.js';
import { PeriodControl, parsePeriod } from '../forms/period-control.js';
import { DataTable } from '../tables/data-table.js';
import { SpendAndCallsCharts } from './spend-and-calls-charts.js';

const DEFAULTS = { period: '30d' };
const REFETCH_MS = 30_000;
const ROWS_MAX = 20;

type Dimension = 'agent' | 'model' | 'key' | 'provider';
const HEADERS: Readonly<Record<Dimension, string>> = {
  agent: 'Agent',
  model: 'Model',
  key: 'Gateway token',
  provider: 'Provider',
};

interface UsageSectionProps {
  /** Whose usage. */
  readonly scope: { readonly projectId?: string; readonly agentId?: string; readonly keyId?: string };
  /** One table for each. */
  readonly by: readonly Dimension[];
  /** The address of a row's page; null: it has none. */
  readonly hrefOf: (by: Dimension, value: string) => string | null;
}

export function UsageSection({ scope, by, hrefOf }: UsageSectionProps) {
  const { values, set } = useUrlState(DEFAULTS);
  const period = parsePeriod(values.period);
  const [first = 'model', ...others] = by;
  const totals = useBreakdown({ ...scope, period, by: first });
  const sums = totals.data?.totals;
  const missing = totals.isPending ? undefined : NO_VALUE;
  const against = `previous ${period}`;
  return (
    <Stack component="section" aria-label="Usage" gap="lg">
      <Group justify="space-between">
        <Title order={2}>Usage</Title>
        <PeriodControl value={period} onChange={(value) => set({ period: value })} />
      </Group>
      {totals.error !== null && <ErrorAlert error={totals.error} onRetry={totals.refetch} />}
      <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="md">
        <MetricTile label="Spend" value={sums ? formatUsd(sums.costUsd) : missing}>
          {sums && <Trend now={sums.costUsd} before={sums.previous?.costUsd} against={against} />}
        </MetricTile>
        <MetricTile label="Calls" value={sums ? formatCount(sums.requests) : missing}>
          {sums && <Trend now={sums.requests} before={sums.previous?.requests} against={against} />}
        </MetricTile>
        <MetricTile
          label="Errors"
          value={sums ? (sums.requests === 0 ? NO_VALUE : formatPercent((sums.errors / sums.requests) * 100)) : missing}
        />
        <MetricTile label="Tokens" value={sums ? formatCount(sums.tokensIn + sums.tokensOut) : missing} />
      </SimpleGrid>
      <SpendAndCallsCharts scope={scope} period={period} />
      <BreakdownTable by={first} query={totals} hrefOf={hrefOf} />
      {others.map((dimension) => (
        <FetchedBreakdown key={dimension} query={{ ...scope, period, by: dimension }} hrefOf={hrefOf} />
      ))}
    </Stack>
  );
}

type BreakdownQuery = UsageSectionProps['scope'] & {
  readonly by: Dimension;
  readonly period: ReturnType<typeof parsePeriod>;
};

const fetchBreakdown = (query: BreakdownQuery) =>
  api.get('/v1/usage/breakdown', { params: { query: { ...query, compare: 'previous', limit: ROWS_MAX } } });

const useBreakdown = (query: BreakdownQuery) =>
  useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => fetchBreakdown(query),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });

interface FetchedBreakdownProps extends Pick<UsageSectionProps, 'hrefOf'> {
  readonly query: BreakdownQuery;
}

const FetchedBreakdown = ({ query, hrefOf }: FetchedBreakdownProps) => (
  <BreakdownTable by={query.by} query={useBreakdown(query)} hrefOf={hrefOf} />
);

interface BreakdownTableProps extends Pick<UsageSectionProps, 'hrefOf'> {
  readonly by: Dimension;
  readonly query: ReturnType<typeof useBreakdown>;
}

const BreakdownTable = ({ by, query, hrefOf }: BreakdownTableProps) => (
  <DataTable
    label={`Usage by ${HEADERS[by].toLowerCase()}`}
    query={query}
    rows={(data) => data.rows}
    rowKey={({ value }) => value}
    columns={[
      {
        header: HEADERS[by],
        cell: ({ value, name }) => <RowName label={name ?? labelOf(by, value)} href={hrefOf(by, value)} />,
      },
      { header: 'Spend', numeric: true, cell: ({ costUsd }) => formatUsd(costUsd) },
      { header: 'Calls', numeric: true, cell: ({ requests }) => formatCount(requests ?? 0) },
      { header: 'Errors', numeric: true, cell: ({ errors }) => formatCount(errors ?? 0) },
    ]}
    empty={<EmptyState title="No calls in this period" />}
  />
);

const labelOf = (by: Dimension, value: string): string => {
  if (value === '') return by === 'model' ? 'no model' : 'unknown';
  return by === 'agent' || by === 'key' ? `deleted (${value.slice(-8)})` : value;
};

const RowName = ({ label, href }: { readonly label: string; readonly href: string | null }) =>
  href === null ? (
    <span className="acg-break-anywhere">{label}</span>
  ) : (
    <Anchor component={Link} href={href} inherit underline="always" className="acg-break-anywhere">
      {label}
    </Anchor>
  );
