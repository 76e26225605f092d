/** The agent's latest calls. */
import { Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { CallStatusBadge } from '../../components/feedback/call-status-badge.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { RelativeTime } from '../../components/feedback/relative-time.js';
import { type Column, DataTable } from '../../components/tables/data-table.js';
import { formatCents, formatCount, formatMilliseconds, NO_VALUE } from '../../format/format.js';
import { useUrlState } from '../../hooks/use-url-state.js';
import { providerLabel } from '../../messages/provider-labels.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

const PAGE_SIZE = 25;
const REFETCH_MS = 5_000;
const DEFAULTS = { page: 1 };

export function CallsTab({ agent }: { readonly agent: Agent }) {
  const { values, set } = useUrlState(DEFAULTS);
  const query = { agentId: agent.id, limit: PAGE_SIZE, offset: (values.page - 1) * PAGE_SIZE };
  const logs = useQuery({
    queryKey: ['logs', query],
    queryFn: () => fetchCalls(query),
    placeholderData: keepPreviousData,
    refetchInterval: values.page === 1 ? REFETCH_MS : false,
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
        <EmptyState
          title="No calls yet"
          text="The Connect tab shows how to make one. Rejected calls are counted, not listed."
        />
      }
    />
  );
}

const fetchCalls = (query: { readonly agentId: string; readonly limit: number; readonly offset: number }) =>
  api.get('/v1/usage/logs', { params: { query } });
type CallRow = Awaited<ReturnType<typeof fetchCalls>>['logs'][number];

const COLUMNS: readonly Column<CallRow>[] = [
  { header: 'Time', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
  { header: 'Status', cell: CallStatusBadge },
  { header: 'Provider', cell: ({ providerSlug }) => providerLabel(providerSlug) },
  {
    header: 'Call',
    cell: ({ method, path }) => (
      <Text size="sm" span className="acg-break-anywhere acg-call-path" lineClamp={2} title={`${method} ${path}`}>
        {method} {path}
      </Text>
    ),
  },
  { header: 'Model', cell: ({ model }) => model ?? NO_VALUE },
  {
    header: 'Tokens',
    numeric: true,
    cell: ({ tokensIn, tokensOut }) => `${formatCount(tokensIn)} → ${formatCount(tokensOut)}`,
  },
  { header: 'Cost', numeric: true, cell: ({ costCents }) => formatCents(costCents) },
  { header: 'Duration', numeric: true, cell: ({ durationMs }) => formatMilliseconds(durationMs) },
];
