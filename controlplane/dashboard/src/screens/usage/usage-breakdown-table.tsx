/** Usage by group, highest spend first; each group links to its calls. */
import { Anchor } from '@mantine/core';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useQuery } from '../../api/use-query.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { type Column, DataTable } from '../../components/tables/data-table.js';
import { formatCount, formatMilliseconds, formatPercent, formatUsd, NO_VALUE } from '../../format/format.js';
import { groupLabel, isValueMissing } from '../../messages/group-label.js';
import { Change } from './change.js';
import { type BreakdownQuery, type BreakdownRow, fetchBreakdown } from './fetch-breakdown.js';
import { GROUPINGS, type Grouping, type UsageQuery } from './groupings-and-metrics.js';

const PAGE_SIZE = 20;

interface UsageBreakdownTableProps {
  readonly query: BreakdownQuery;
  readonly page: number;
  readonly filtered: boolean;
  readonly onPage: (page: number) => void;
  readonly onSort: (sort: string, order: 'asc' | 'desc') => void;
  readonly onProject: (id: string) => void;
  readonly onClear: () => void;
}

const formatIfKnown = (value: number | null, format: (value: number) => string): string =>
  value === null ? NO_VALUE : format(value);

export function UsageBreakdownTable({
  query,
  page,
  filtered,
  onPage,
  onSort,
  onProject,
  onClear,
}: UsageBreakdownTableProps) {
  const { by, thenBy, sort = 'costUsd', order = 'desc' } = query;
  const breakdownParams = { ...query, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const breakdown = useQuery({
    queryKey: ['usage', 'breakdown', breakdownParams],
    queryFn: async () => ({ ...(await fetchBreakdown(breakdownParams)), thenBy }),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  // While another grouping loads, the previous data keeps its own heading.
  const shown = displayedGrouping(breakdown.data?.by, by);
  const second = breakdown.data === undefined ? thenBy : breakdown.data.thenBy;
  const total = breakdown.data?.totals?.costUsd ?? 0;
  const firstHeader = headerOf(shown);
  const columns: readonly Column<BreakdownRow>[] = [
    {
      header: firstHeader,
      cell: (row) => <GroupLink by={shown} value={row.value} name={row.name} query={query} onProject={onProject} />,
    },
    ...(second === undefined
      ? []
      : [
          {
            header: headerOf(second),
            cell: ({ thenValue = '', thenName = null }: BreakdownRow) => (
              <GroupLink by={second} value={thenValue} name={thenName} query={query} onProject={onProject} />
            ),
          },
        ]),
    { header: 'Spend', numeric: true, sortKey: 'costUsd', cell: ({ costUsd }) => formatUsd(costUsd) },
    {
      header: 'Share',
      numeric: true,
      cell: ({ costUsd }) => (costUsd === null || total === 0 ? NO_VALUE : formatPercent((costUsd / total) * 100)),
    },
    ...(query.compare === undefined
      ? []
      : [
          {
            header: 'Change',
            numeric: true,
            cell: ({ costUsd, previous }: BreakdownRow) => <Change now={costUsd} before={previous?.costUsd} />,
          },
        ]),
    {
      header: 'Calls',
      numeric: true,
      sortKey: 'requests',
      cell: ({ requests }) => formatIfKnown(requests, formatCount),
    },
    { header: 'Errors', numeric: true, sortKey: 'errors', cell: ({ errors }) => formatIfKnown(errors, formatCount) },
    {
      header: 'Tokens in',
      numeric: true,
      sortKey: 'tokensIn',
      cell: ({ tokensIn }) => formatIfKnown(tokensIn, formatCount),
    },
    {
      header: 'Tokens out',
      numeric: true,
      sortKey: 'tokensOut',
      cell: ({ tokensOut }) => formatIfKnown(tokensOut, formatCount),
    },
    {
      header: 'Mean duration',
      numeric: true,
      cell: ({ avgLatency }) => formatMilliseconds(avgLatency),
      wideOnly: true,
    },
  ];
  return (
    <DataTable
      label="Usage by group"
      query={breakdown}
      rows={(data) => data.rows}
      rowKey={({ value, thenValue = '' }) => `${value} ${thenValue}`}
      columns={columns}
      {...(by === 'status' ? {} : { sorting: { sort, order, onSort } })}
      footer={({ totals }) =>
        totals === undefined
          ? {}
          : {
              [firstHeader]: 'Total',
              Spend: formatUsd(totals.costUsd),
              Change: <Change now={totals.costUsd} before={totals.previous?.costUsd} />,
              Calls: formatCount(totals.requests),
              Errors: formatCount(totals.errors),
              'Tokens in': formatCount(totals.tokensIn),
              'Tokens out': formatCount(totals.tokensOut),
              'Mean duration': formatMilliseconds(totals.avgLatency),
            }
      }
      filtered={filtered}
      onClearFilters={onClear}
      paging={({ total: count }) => ({ page, pageSize: PAGE_SIZE, total: count, onPage })}
      empty={<EmptyState title="No usage in this period" text="Calls appear here as soon as an agent makes one." />}
    />
  );
}

const headerOf = (by: Grouping): string => GROUPINGS.find(({ value }) => value === by)?.label ?? '';

const displayedGrouping = (loadedGrouping: string | undefined, requestedGrouping: Grouping): Grouping =>
  GROUPINGS.find(({ value }) => value === loadedGrouping)?.value ?? requestedGrouping;

interface GroupLinkProps {
  readonly by: Grouping;
  readonly value: string;
  readonly name: string | null;
  readonly query: UsageQuery;
  readonly onProject: (id: string) => void;
}

function GroupLink({ by, value, name, query, onProject }: GroupLinkProps) {
  const label = groupLabel(by, value, name);
  if (isValueMissing(value)) return <>{label}</>;
  if (by === 'project') {
    return (
      <Anchor component="button" type="button" inherit underline="always" onClick={() => onProject(value)}>
        {label}
      </Anchor>
    );
  }
  const filters = new URLSearchParams({ [by]: value });
  if (by !== 'agent' && query.agentId !== undefined) filters.set('agent', query.agentId);
  const page = by === 'agent' ? 'agents' : by === 'key' ? 'keys' : null;
  const href = page !== null && name !== null ? `/${page}/${value}` : `/calls?${filters}`;
  return (
    <Anchor component={Link} href={href} inherit underline="always" className="acg-break-anywhere">
      {label}
    </Anchor>
  );
}
