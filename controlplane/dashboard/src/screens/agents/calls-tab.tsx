/** The agent's latest calls. */
import { Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { cents, count, milliseconds, NONE } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Nothing } from '../../parts/nothing.js';
import { useSearchState } from '../../parts/search-state.js';
import type { Agent } from '../../resources/agents.js';

const PAGE_SIZE = 25;
const EVERY_MS = 5_000;
const DEFAULTS = { page: 1 };

export function CallsTab({ agent }: { readonly agent: Agent }) {
  const { values, set } = useSearchState(DEFAULTS);
  const query = { agentId: agent.id, limit: PAGE_SIZE, offset: (values.page - 1) * PAGE_SIZE };
  const logs = useQuery({
    queryKey: ['logs', query],
    queryFn: () => readCalls(query),
    placeholderData: keepPreviousData,
    refetchInterval: values.page === 1 ? EVERY_MS : false,
  });
  return (
    <DataTable
      label="Calls"
      query={logs}
      rows={(data) => data.logs}
      rowKey={({ id }) => id}
      columns={COLUMNS}
      paging={({ total, totalCapped }) => ({
        page: values.page,
        pageSize: PAGE_SIZE,
        total,
        capped: totalCapped,
        onPage: (page) => set({ page }),
      })}
      empty={
        <Nothing
          title="No call yet"
          text="The tab Connect shows how to make one. Refused calls are counted, not listed."
        />
      }
    />
  );
}

const readCalls = (query: { readonly agentId: string; readonly limit: number; readonly offset: number }) =>
  api.get('/v1/usage/logs', { params: { query } });
type Row = Awaited<ReturnType<typeof readCalls>>['logs'][number];

const FAILED_FROM = 400;

const COLUMNS: readonly Column<Row>[] = [
  { header: 'When', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    header: 'Status',
    cell: ({ status }) => (
      <Text span inherit fw={600} c={status >= FAILED_FROM ? 'var(--acg-bad)' : 'var(--acg-good)'}>
        {status}
      </Text>
    ),
  },
  { header: 'Provider', cell: ({ providerSlug }) => providerSlug },
  {
    header: 'Call',
    cell: ({ method, path }) => (
      <span className="acg-break">
        {method} {path}
      </span>
    ),
  },
  { header: 'Model', cell: ({ model }) => <span className="acg-break">{model ?? NONE}</span> },
  { header: 'Tokens', numeric: true, cell: ({ tokensIn, tokensOut }) => `${count(tokensIn)} → ${count(tokensOut)}` },
  { header: 'Cost', numeric: true, cell: ({ costCents }) => cents(costCents) },
  { header: 'Took', numeric: true, cell: ({ durationMs }) => milliseconds(durationMs) },
];
