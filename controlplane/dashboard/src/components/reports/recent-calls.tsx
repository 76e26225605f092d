/** The newest forwarded and rejected calls of one object; each opens its details, and a link leads to all of them. */
import { Anchor, Group, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { formatCents, formatMilliseconds } from '../../format/format.js';
import { CallOutcomeBadge } from '../feedback/call-status-badge.js';
import { EmptyState } from '../feedback/empty-state.js';
import { RelativeTime } from '../feedback/relative-time.js';
import { DataTable } from '../tables/data-table.js';
import { CallPath } from './call-path.js';
import { sharedFieldsOf } from './merged-call.js';

const ROWS_DEFAULT = 10;
const REFETCH_MS = 15_000;

interface RecentCallsProps {
  readonly scope: {
    readonly projectId?: string;
    readonly agentId?: string;
    readonly keyId?: string;
    readonly provider?: string;
  };
  readonly rows?: number;
  readonly empty?: ReactNode;
}

/** The filter of the Calls page for each field of the scope. */
const PARAMETERS = { projectId: 'project', agentId: 'agent', keyId: 'key', provider: 'provider' } as const;

export function RecentCalls({ scope, rows = ROWS_DEFAULT, empty }: RecentCallsProps) {
  const query = { ...scope, limit: rows };
  const calls = useQuery({
    queryKey: ['calls', 'recent', query],
    queryFn: () => api.get('/v1/usage/calls', { params: { query } }),
    refetchInterval: REFETCH_MS,
  });
  const filters = new URLSearchParams(
    Object.entries(scope).map(([field, value]) => [PARAMETERS[field as keyof typeof PARAMETERS], value]),
  );
  return (
    <Stack component="section" aria-label="Last calls" gap="sm">
      <Group justify="space-between">
        <Title order={2}>Last calls</Title>
        <Anchor component={Link} href={`/calls?${filters}`} size="sm">
          All calls
        </Anchor>
      </Group>
      <DataTable
        label="Last calls"
        isDense
        query={calls}
        rows={(data) => data.calls}
        rowKey={({ id }) => id}
        href={({ id }) => `/calls?${filters}&call=${id}`}
        columns={[
          { header: 'Time', cell: ({ at }) => <RelativeTime at={at} /> },
          {
            header: 'Agent',
            cell: (call) => (
              <span className="acg-name">
                {sharedFieldsOf(call).agentName ?? sharedFieldsOf(call).agentId.slice(-8)}
              </span>
            ),
          },
          { header: 'Call', takesRest: true, cell: (call) => <CallPath call={call} /> },
          { header: 'Status', isBesideTitle: true, cell: (call) => <CallOutcomeBadge {...call} /> },
          { header: 'Cost', numeric: true, cell: ({ forwarded }) => formatCents(forwarded?.costCents ?? null) },
          {
            header: 'Duration',
            numeric: true,
            cell: ({ forwarded }) => formatMilliseconds(forwarded?.durationMs ?? null),
            wideOnly: true,
          },
        ]}
        empty={empty ?? <EmptyState title="No calls yet" />}
      />
    </Stack>
  );
}
