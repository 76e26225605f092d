/** The newest calls that the gateway rejected, with key and network of the client; for administrators. */
import { Anchor, Code, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { DataTable } from '../../components/tables/data-table.js';
import { formatDateTime, NO_VALUE } from '../../format/format.js';

const PAGE_ROWS = 20;
const REFETCH_MS = 5_000;

interface RejectedCallsTableProps {
  /** '': of all agents. */
  readonly agentId: string;
}

export function RejectedCallsTable({ agentId }: RejectedCallsTableProps) {
  const [page, setPage] = useState(1);
  const query = { limit: PAGE_ROWS, offset: (page - 1) * PAGE_ROWS, ...(agentId === '' ? {} : { agentId }) };
  const calls = useQuery({
    queryKey: ['usage', 'rejected-calls', query],
    queryFn: () => api.get('/v1/usage/rejected-calls', { params: { query } }),
    placeholderData: keepPreviousData,
    refetchInterval: REFETCH_MS,
  });
  return (
    <DataTable
      label="Last rejected calls"
      query={calls}
      rows={(data) => data.calls}
      rowKey={({ id }) => id}
      columns={[
        { header: 'Time', cell: ({ rejectedAt }) => formatDateTime(rejectedAt) },
        {
          header: 'Agent',
          cell: ({ agentId: id, agentName }) => (
            <Anchor component={Link} href={`/agents/${id}`} inherit underline="always">
              {agentName ?? NO_VALUE}
            </Anchor>
          ),
        },
        {
          header: 'Call',
          cell: ({ method, path, providerSlug }) => (
            <Text size="sm" span>
              {providerSlug !== null && `${providerSlug} `}
              <Code>
                {method} {path}
              </Code>
            </Text>
          ),
        },
        { header: 'Model or tool', cell: ({ model, tool }) => tool ?? model ?? NO_VALUE },
        { header: 'Reason', cell: ({ status, reason }) => `${status} ${reason}` },
        { header: 'Gateway token', cell: ({ keyName, keyPrefix }) => keyName ?? keyPrefix ?? NO_VALUE },
        { header: 'Client', cell: ({ clientNetwork }) => clientNetwork },
      ]}
      paging={({ total }) => ({ page, pageSize: PAGE_ROWS, total, onPage: setPage })}
      empty={<EmptyState title="No rejected calls" text="Nothing was rejected in the last 30 days." />}
    />
  );
}
