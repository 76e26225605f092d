/** The newest calls of one object; each opens its details, and a link leads to all of them. */
import { Anchor, Code, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { formatCents, formatMilliseconds } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { CallStatusBadge } from '../feedback/call-status-badge.js';
import { EmptyState } from '../feedback/empty-state.js';
import { RelativeTime } from '../feedback/relative-time.js';
import { DataTable } from '../tables/data-table.js';

const ROWS = 10;
const REFETCH_MS = 15_000;

interface RecentCallsProps {
  readonly scope: {
    readonly projectId?: string;
    readonly agentId?: string;
    readonly keyId?: string;
    readonly provider?: string;
  };
}

/** The filter of the Calls page for each field of the scope. */
const PARAMETERS = { projectId: 'project', agentId: 'agent', keyId: 'key', provider: 'provider' } as const;

export function RecentCalls({ scope }: RecentCallsProps) {
  const query = { ...scope, limit: ROWS };
  const calls = useQuery({
    queryKey: ['logs', query],
    queryFn: () => api.get('/v1/usage/logs', { params: { query } }),
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
        rows={(data) => data.logs}
        rowKey={({ id }) => id}
        href={({ id }) => `/calls?${filters}&call=${id}`}
        columns={[
          { header: 'Time', cell: ({ createdAt }) => <RelativeTime at={createdAt} /> },
          { header: 'Agent', cell: ({ agentName, agentId }) => agentName ?? agentId.slice(-8) },
          {
            header: 'Call',
            cell: ({ method, path, providerSlug }) => (
              <Text size="sm" span className="acg-call-path acg-one-line" title={`${method} ${path}`}>
                {providerLabel(providerSlug)} <Code>{method}</Code> {path}
              </Text>
            ),
          },
          { header: 'Status', cell: CallStatusBadge },
          { header: 'Cost', numeric: true, cell: ({ costCents }) => formatCents(costCents) },
          {
            header: 'Duration',
            numeric: true,
            cell: ({ durationMs }) => formatMilliseconds(durationMs),
            wideOnly: true,
          },
        ]}
        empty={<EmptyState title="No calls yet" />}
      />
    </Stack>
  );
}
