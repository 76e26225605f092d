/** Usage by group, highest spend first; each group links to its calls. */
import { Anchor } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { type Column, DataTable } from '../../components/tables/data-table.js';
import { formatCount, formatMilliseconds, formatUsd, NO_VALUE } from '../../format/format.js';
import { GROUPINGS, type Grouping, groupLabel, type UsageQuery } from './groupings-and-metrics.js';

const PAGE_SIZE = 20;

interface UsageBreakdownTableProps {
  readonly query: UsageQuery;
  readonly by: Grouping;
  readonly page: number;
  readonly filtered: boolean;
  readonly onPage: (page: number) => void;
  readonly onProject: (id: string) => void;
  readonly onClear: () => void;
}

const fetchBreakdown = (query: UsageQuery & { by: Grouping; limit: number; offset: number }) =>
  api.get('/v1/usage/breakdown', { params: { query } });
type BreakdownRow = Awaited<ReturnType<typeof fetchBreakdown>>['rows'][number];

const formatIfKnown = (value: number | null, format: (value: number) => string): string =>
  value === null ? NO_VALUE : format(value);

export function UsageBreakdownTable({
  query,
  by,
  page,
  filtered,
  onPage,
  onProject,
  onClear,
}: UsageBreakdownTableProps) {
  const breakdownParams = { ...query, by, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const breakdown = useQuery({
    queryKey: ['usage', 'breakdown', breakdownParams],
    queryFn: () => fetchBreakdown(breakdownParams),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  // While another grouping loads, the previous data keeps its own heading.
  const shown = displayedGrouping(breakdown.data?.by, by);
  const columns: readonly Column<BreakdownRow>[] = [
    {
      header: GROUPINGS.find(({ value }) => value === shown)?.label ?? '',
      cell: (row) => <GroupLink by={shown} row={row} query={query} onProject={onProject} />,
    },
    { header: 'Spend', numeric: true, cell: ({ costUsd }) => formatUsd(costUsd) },
    { header: 'Calls', numeric: true, cell: ({ requests }) => formatIfKnown(requests, formatCount) },
    { header: 'Errors', numeric: true, cell: ({ errors }) => formatIfKnown(errors, formatCount) },
    { header: 'Tokens in', numeric: true, cell: ({ tokensIn }) => formatIfKnown(tokensIn, formatCount) },
    { header: 'Tokens out', numeric: true, cell: ({ tokensOut }) => formatIfKnown(tokensOut, formatCount) },
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
      rowKey={({ value }) => value}
      columns={columns}
      filtered={filtered}
      onClearFilters={onClear}
      paging={({ total }) => ({ page, pageSize: PAGE_SIZE, total, onPage })}
      empty={<EmptyState title="No usage in this period" text="Calls appear here as soon as an agent makes one." />}
    />
  );
}

const displayedGrouping = (loadedGrouping: string | undefined, requestedGrouping: Grouping): Grouping =>
  GROUPINGS.find(({ value }) => value === loadedGrouping)?.value ?? requestedGrouping;

interface GroupLinkProps {
  readonly by: Grouping;
  readonly row: BreakdownRow;
  readonly query: UsageQuery;
  readonly onProject: (id: string) => void;
}

function GroupLink({ by, row: { value, name }, query, onProject }: GroupLinkProps) {
  const label = groupLabel(by, value, name);
  if (label === 'unknown' || label === 'no model') return <>{label}</>;
  if (by === 'project') {
    return (
      <Anchor component="button" type="button" inherit underline="always" onClick={() => onProject(value)}>
        {label}
      </Anchor>
    );
  }
  const filters = new URLSearchParams({ [by]: value });
  if (by !== 'agent' && query.agentId !== undefined) filters.set('agent', query.agentId);
  const href = by === 'agent' && name !== null ? `/agents/${value}` : `/calls?${filters}`;
  return (
    <Anchor component={Link} href={href} inherit underline="always" className="acg-break-anywhere">
      {label}
    </Anchor>
  );
}
