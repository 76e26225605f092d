/** All that is known of one call. */
import { Anchor, Button, Code, Drawer, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { useConfig } from '../../api/session.js';
import { bytes, count, exactTime, milliseconds, NONE, usd } from '../../format/format.js';
import { CallStatus } from '../../parts/call-status.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Failure } from '../../parts/failure.js';
import { type CallFilters, type CallRow, costOf } from './call-list.js';

interface CallDrawerProps {
  /** Empty: closed. */
  readonly id: string;
  /** Calls that need not be asked for. */
  readonly known: readonly CallRow[];
  readonly onClose: () => void;
  readonly onFilter: (changes: Partial<CallFilters>) => void;
}

export function CallDrawer({ id, known, onClose, onFilter }: CallDrawerProps) {
  const inList = known.find((call) => call.id === id);
  const asked = useQuery({
    queryKey: ['call', id],
    queryFn: () => api.get('/v1/usage/logs/{id}', { params: { path: { id } } }),
    enabled: id !== '' && inList === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const call = inList ?? asked.data?.log;
  return (
    <Drawer
      opened={id !== ''}
      onClose={onClose}
      title="Call"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {call === undefined && asked.error === null && <Skeleton h={320} />}
      {asked.error !== null && <Failure error={asked.error} onRetry={asked.refetch} />}
      {call !== undefined && <Details call={call} onFilter={onFilter} />}
    </Drawer>
  );
}

function Details({ call, onFilter }: { readonly call: CallRow; readonly onFilter: CallDrawerProps['onFilter'] }) {
  const proxyUrl = useConfig().data?.proxyUrl ?? '';
  const curl = `curl -X ${call.method} "${proxyUrl}/v1/proxy/${call.providerSlug}${call.path}" -H "Authorization: Bearer $ACG_GATEWAY_TOKEN"`;
  return (
    <Stack gap="lg">
      <div>
        <Text className="acg-break" size="sm">
          {call.providerSlug} <Code>{call.method}</Code> {call.path}
        </Text>
        <Text size="sm" component="div" mt="xs">
          <CallStatus {...call} />
        </Text>
      </div>
      <Group gap="sm">
        <CopyButton value={call.requestId} label="Copy request id" />
        <CopyButton value={curl} label="Copy as curl" />
      </Group>
      <Facts title="Who">
        <Fact label="Agent">
          <Anchor component={Link} href={`/agents/${call.agentId}`} inherit>
            {call.agentName ?? call.agentId}
          </Anchor>
        </Fact>
        <Fact label="Project">{call.projectName ?? NONE}</Fact>
        <Fact label="Key">{call.keyName ?? call.keyPrefix ?? call.keyId}</Fact>
        <Fact label="When">{exactTime(call.createdAt)}</Fact>
        <Fact label="Request">
          <Code>{call.requestId}</Code>
        </Fact>
      </Facts>
      <Facts title="Tokens and cost">
        <Fact label="Model">{call.model ?? NONE}</Fact>
        <Fact label="Input">{count(call.tokensIn)}</Fact>
        <Fact label="of it from the cache" part>
          {count(call.tokensCacheRead)}
        </Fact>
        <Fact label="of it into the cache" part>
          {count(call.tokensCacheWrite)}
        </Fact>
        <Fact label="Output">{count(call.tokensOut)}</Fact>
        <Fact label="of it reasoning" part>
          {count(call.tokensReasoning)}
        </Fact>
        <Fact label="Cost">{usd(costOf(call))}</Fact>
        <Fact label="Tokens are">{call.usageSource}</Fact>
        <Fact label="Price is from">{call.priceSource}</Fact>
      </Facts>
      <Facts title="Time and size">
        <Fact label="Until the answer’s first byte">{milliseconds(call.ttfbMs)}</Fact>
        <Fact label="Altogether">{milliseconds(call.durationMs)}</Fact>
        <Fact label="Sent">{bytes(call.bytesIn)}</Fact>
        <Fact label="Received">{bytes(call.bytesOut)}</Fact>
        <Fact label="Streamed">{call.websocket ? 'WebSocket' : call.streamed ? 'yes' : 'no'}</Fact>
        <Fact label="Provider answered">{call.upstreamStatus === 0 ? 'nothing' : call.upstreamStatus}</Fact>
        <Fact label="Data plane">{call.dataPlaneId}</Fact>
      </Facts>
      <Group gap="sm">
        <Button size="xs" variant="default" onClick={() => onFilter({ agent: call.agentId })}>
          Only this agent
        </Button>
        <Button size="xs" variant="default" onClick={() => onFilter({ key: call.keyId })}>
          Only this key
        </Button>
        {call.model !== null && (
          <Button size="xs" variant="default" onClick={() => onFilter({ model: call.model ?? '' })}>
            Only this model
          </Button>
        )}
      </Group>
    </Stack>
  );
}

const Facts = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section aria-label={title}>
    <Title order={3} size="sm" mb="xs">
      {title}
    </Title>
    <Stack component="dl" gap={6} m={0}>
      {children}
    </Stack>
  </section>
);

interface FactProps {
  readonly label: string;
  /** Of the figure above it. */
  readonly part?: boolean;
  readonly children: ReactNode;
}

const Fact = ({ label, part = false, children }: FactProps) => (
  <Group justify="space-between" align="flex-start" gap="md" wrap="nowrap">
    <Text component="dt" size="sm" c="dimmed" pl={part ? 'md' : 0}>
      {label}
    </Text>
    <Text component="dd" size="sm" m={0} ta="right" className="acg-break acg-numbers">
      {children}
    </Text>
  </Group>
);
