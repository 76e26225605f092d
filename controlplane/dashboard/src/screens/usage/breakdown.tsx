/** The groups with all their figures, the dearest first; each leads to its calls. */
import { Anchor } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { count, milliseconds, NONE, usd } from '../../format/format.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import { GROUPS, type GroupName, labelOf } from './groups.js';
import type { UsageQuery } from './usage-query.js';

const PAGE_SIZE = 20;

interface BreakdownProps {
  readonly query: UsageQuery;
  readonly by: GroupName;
  readonly page: number;
  readonly filtered: boolean;
  readonly onPage: (page: number) => void;
  readonly onProject: (id: string) => void;
  readonly onClear: () => void;
}

const read = (query: UsageQuery & { by: GroupName; limit: number; offset: number }) =>
  api.get('/v1/usage/breakdown', { params: { query } });
type Row = Awaited<ReturnType<typeof read>>['rows'][number];

const known = (value: number | null, format: (value: number) => string): string =>
  value === null ? NONE : format(value);

export function Breakdown({ query, by, page, filtered, onPage, onProject, onClear }: BreakdownProps) {
  const asked = { ...query, by, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const breakdown = useQuery({
    queryKey: ['usage', 'breakdown', asked],
    queryFn: () => read(asked),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });
  // While another grouping is on its way, the one before is shown under its own name.
  const shown = groupShown(breakdown.data?.by, by);
  const columns: readonly Column<Row>[] = [
    {
      header: GROUPS.find(({ value }) => value === shown)?.label ?? '',
      cell: (row) => <Name by={shown} row={row} query={query} onProject={onProject} />,
    },
    { header: 'Spend', numeric: true, cell: ({ costUsd }) => usd(costUsd) },
    { header: 'Calls', numeric: true, cell: ({ requests }) => known(requests, count) },
    { header: 'Errors', numeric: true, cell: ({ errors }) => known(errors, count) },
    { header: 'Tokens in', numeric: true, cell: ({ tokensIn }) => known(tokensIn, count) },
    { header: 'Tokens out', numeric: true, cell: ({ tokensOut }) => known(tokensOut, count) },
    { header: 'Mean time', numeric: true, cell: ({ avgLatency }) => milliseconds(avgLatency), wideOnly: true },
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
      empty={<Nothing title="No usage in this time" text="Calls are counted here as soon as an agent makes some." />}
    />
  );
}

const groupShown = (answered: string | undefined, asked: GroupName): GroupName =>
  GROUPS.find(({ value }) => value === answered)?.value ?? asked;

interface NameProps {
  readonly by: GroupName;
  readonly row: Row;
  readonly query: UsageQuery;
  readonly onProject: (id: string) => void;
}

function Name({ by, row: { value, name }, query, onProject }: NameProps) {
  const label = labelOf(by, value, name);
  if (label === 'not known' || label === 'no model') return <>{label}</>;
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
    <Anchor component={Link} href={href} inherit underline="always" className="acg-break">
      {label}
    </Anchor>
  );
}
