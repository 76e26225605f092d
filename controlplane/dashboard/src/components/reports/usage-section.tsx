/** Spend and calls of one object in a period: tiles with their trend, charts, and a table by a dimension. */
import { Group, SimpleGrid, Stack, Title } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { formatCount, formatPercent, formatUsd, NO_VALUE } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { groupLabel, isValueMissing } from '../../messages/group-label.js';
import { EmptyState } from '../feedback/empty-state.js';
import { ErrorAlert } from '../feedback/error-alert.js';
import { MetricTile } from '../feedback/metric-tile.js';
import { Trend } from '../feedback/trend.js';
import { PeriodControl, parsePeriod } from '../forms/period-control.js';
import { PageLink } from '../layout/page-link.js';
import { DataTable } from '../tables/data-table.js';
import { MonthSpendChart } from './month-spend-chart.js';
import { SpendAndCallsCharts, type SpendAndCallsChartsProps } from './spend-and-calls-charts.js';

const DEFAULTS = { period: '30d' };
const REFETCH_MS = 30_000;
const ROWS_MAX = 20;

type Dimension = 'agent' | 'model' | 'key';
const HEADERS: Readonly<Record<Dimension, string>> = {
  agent: 'Agent',
  model: 'Model',
  key: 'Gateway token',
};

interface Scope {
  readonly projectId?: string;
  readonly keyId?: string;
}

interface UsageSectionProps {
  /** Whose usage. */
  readonly scope: Scope;
  /** One table for each. */
  readonly by: readonly Dimension[];
  readonly budgets?: SpendAndCallsChartsProps['budgets'];
}

export function UsageSection({ scope, by, budgets = [] }: UsageSectionProps) {
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
      <SpendAndCallsCharts scope={scope} period={period} budgets={budgets} />
      {scope.keyId === undefined && <MonthSpendChart scope={scope} />}
      <BreakdownTable scope={scope} by={first} query={totals} />
      {others.map((dimension) => (
        <FetchedBreakdown key={dimension} scope={scope} by={dimension} period={period} />
      ))}
    </Stack>
  );
}

interface BreakdownQuery extends Scope {
  readonly by: Dimension;
  readonly period: ReturnType<typeof parsePeriod>;
}

const fetchBreakdown = (query: BreakdownQuery) =>
  api.get('/v1/usage/breakdown', { params: { query: { ...query, compare: 'previous', limit: ROWS_MAX } } });

const useBreakdown = (query: BreakdownQuery) =>
  useQuery({
    queryKey: ['usage', 'breakdown', query],
    queryFn: () => fetchBreakdown(query),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });

interface FetchedBreakdownProps {
  readonly scope: Scope;
  readonly by: Dimension;
  readonly period: BreakdownQuery['period'];
}

const FetchedBreakdown = ({ scope, by, period }: FetchedBreakdownProps) => (
  <BreakdownTable scope={scope} by={by} query={useBreakdown({ ...scope, period, by })} />
);

interface BreakdownTableProps {
  readonly scope: Scope;
  readonly by: Dimension;
  readonly query: ReturnType<typeof useBreakdown>;
}

const BreakdownTable = ({ scope, by, query }: BreakdownTableProps) => (
  <DataTable
    label={`Usage by ${HEADERS[by].toLowerCase()}`}
    query={query}
    rows={(data) => data.rows}
    rowKey={({ value }) => value}
    columns={[
      {
        header: HEADERS[by],
        cell: ({ value, name }) => <GroupLink scope={scope} by={by} value={value} name={name} />,
      },
      { header: 'Spend', numeric: true, cell: ({ costUsd }) => formatUsd(costUsd) },
      { header: 'Calls', numeric: true, cell: ({ requests }) => formatCount(requests ?? 0) },
      { header: 'Errors', numeric: true, cell: ({ errors }) => formatCount(errors ?? 0) },
    ]}
    empty={<EmptyState title="No calls in this period" />}
  />
);

interface GroupLinkProps {
  readonly scope: Scope;
  readonly by: Dimension;
  readonly value: string;
  readonly name: string | null;
}

/** To the page of the agent or token; where there is none, e.g. of a deleted one, to its calls. */
function GroupLink({ scope: { projectId, keyId }, by, value, name }: GroupLinkProps) {
  const label = groupLabel(by, value, name);
  if (isValueMissing(value)) return <>{label}</>;
  if (by !== 'model' && name !== null) return <PageLink href={`/${by}s/${value}`}>{label}</PageLink>;
  const filters = new URLSearchParams({
    ...(projectId === undefined ? {} : { project: projectId }),
    ...(keyId === undefined ? {} : { key: keyId }),
    [by]: value,
  });
  return <PageLink href={`/calls?${filters}`}>{label}</PageLink>;
}
