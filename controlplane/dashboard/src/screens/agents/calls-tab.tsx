/** The agent's latest calls. */
import { Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/api.js';
import { cents, count, milliseconds, NONE } from '../../format/format.js';
import { Ago } from '../../parts/ago.js';
import { CallStatus } from '../../parts/call-status.js';
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

const COLUMNS: readonly Column<Row>[] = [
  { header: 'When', cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { header: 'Status', cell: CallStatus },
  { header: 'Provider', cell: ({ providerSlug }) => providerSlug },
  {
    header: 'Call',
    cell: ({ method, path }) => (
      <Text size="sm" span className="acg-break acg-call" lineClamp={2} title={`${method} ${path}`}>
        {method} {path}
      </Text>
    ),
  },
  { header: 'Model', cell: ({ model }) => model ?? NONE },
  { header: 'Tokens', numeric: true, cell: ({ tokensIn, tokensOut }) => `${count(tokensIn)} → ${count(tokensOut)}` },
  { header: 'Cost', numeric: true, cell: ({ costCents }) => cents(costCents) },
  { header: 'Took', numeric: true, cell: ({ durationMs }) => milliseconds(durationMs) },
];
