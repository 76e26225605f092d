/** The first call of an agent: the query that waits for it, and what it did. */
import { Card, Group, Text } from '@mantine/core';
import { CircleCheck } from 'lucide-react';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { formatCents, formatCount, formatMilliseconds } from '../../format/format.js';

const REFETCH_MS = 1_000;

const fetchCalls = (agentId: string) => api.get('/v1/usage/logs', { params: { query: { agentId, limit: 1 } } });
type Call = Awaited<ReturnType<typeof fetchCalls>>['logs'][number];

/** Undefined: none yet. `isWaiting` false: sends no request. */
export const useFirstCall = (agentId: string, isWaiting = true): Call | undefined =>
  useQuery({
    queryKey: ['logs', 'first', agentId],
    queryFn: () => fetchCalls(agentId),
    enabled: isWaiting,
    refetchInterval: ({ state }) => ((state.data?.logs.length ?? 0) > 0 ? false : REFETCH_MS),
  }).data?.logs[0];

export const FirstCallCard = ({ call }: { readonly call: Call }) => (
  <Card className="acg-first-call-success" padding="md" role="status">
    <Group gap="sm" wrap="nowrap" align="flex-start">
      <CircleCheck size={20} aria-hidden color="var(--acg-success)" style={{ flex: 'none' }} />
      <div>
        <Text fw={600}>First call received: {call.status}</Text>
        <Text size="sm" className="acg-tabular-numbers acg-break-anywhere">
          {call.model ?? call.path} · {formatCount(call.tokensIn)} → {formatCount(call.tokensOut)} tokens ·{' '}
          {formatCents(call.costCents)} · {formatMilliseconds(call.durationMs)}
        </Text>
      </div>
    </Group>
  </Card>
);
