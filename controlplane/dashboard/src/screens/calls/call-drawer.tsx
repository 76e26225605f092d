/** A drawer with all details of a call. */
import { LOG_FIELD_ROWS } from '@acg/base/call-log-fields';
import { Anchor, Code, Drawer, Group, Skeleton, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { useConfig } from '../../api/session.js';
import { useQuery } from '../../api/use-query.js';
import { CopyButton } from '../../components/buttons/copy-button.js';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { CallStatusBadge } from '../../components/feedback/call-status-badge.js';
import { DetailRow, DetailSection } from '../../components/feedback/detail-row.js';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import type { ForwardedCall } from '../../components/reports/merged-call.js';
import {
  formatBytes,
  formatCents,
  formatCount,
  formatExactTime,
  formatMilliseconds,
  NO_VALUE,
} from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { CallFilterButtons } from './call-filter-buttons.js';
import { type CallFilters, type CallRow, fetchCall } from './fetch-calls-and-format-fields.js';
import { RejectedCallDetails } from './rejected-call-details.js';

interface CallDrawerProps {
  /** Empty: closed. */
  readonly id: string;
  /** Calls that are already loaded; other calls are fetched. */
  readonly loadedCalls: readonly CallRow[];
  readonly onClose: () => void;
  readonly onFilter: (changes: Partial<CallFilters>) => void;
}

export function CallDrawer({ id, loadedCalls, onClose, onFilter }: CallDrawerProps) {
  const loadedCall = loadedCalls.find((call) => call.id === id);
  const callQuery = useQuery({
    queryKey: ['call', id],
    queryFn: () => fetchCall(id),
    enabled: id !== '' && loadedCall === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const call = loadedCall ?? callQuery.data;
  return (
    <Drawer
      opened={id !== ''}
      onClose={onClose}
      title="Call"
      position="right"
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {call === undefined && callQuery.error === null && <Skeleton h={320} />}
      {callQuery.error !== null && <ErrorAlert error={callQuery.error} onRetry={callQuery.refetch} />}
      {call?.forwarded != null && <CallDetails call={call.forwarded} onFilter={onFilter} />}
      {call?.rejected != null && <RejectedCallDetails call={call.rejected} onFilter={onFilter} />}
    </Drawer>
  );
}

function CallDetails({
  call,
  onFilter,
}: {
  readonly call: ForwardedCall;
  readonly onFilter: CallDrawerProps['onFilter'];
}) {
  const proxyUrl = useConfig().data?.proxyUrl ?? '';
  const curl = `curl -X ${call.method} "${proxyUrl}/v1/proxy/${call.providerSlug}${call.path}" -H "Authorization: Bearer $ACG_GATEWAY_TOKEN"`;
  return (
    <Stack gap="lg">
      <div>
        <Text className="acg-break-anywhere" size="sm">
          {providerLabel(call.providerSlug)} <Code>{call.method}</Code> {call.path}
        </Text>
        <Text size="sm" component="div" mt="xs">
          <CallStatusBadge {...call} />
        </Text>
      </div>
      <Group gap="sm">
        <CopyButton value={call.requestId} label="Copy request id" />
        <CopyButton value={curl} label="Copy as curl" />
      </Group>
      <DetailSection title="Caller">
        <DetailRow label="Agent">
          <Anchor component={Link} href={`/agents/${call.agentId}`} inherit>
            {call.agentName ?? call.agentId}
          </Anchor>
        </DetailRow>
        <DetailRow label="Project">
          {call.projectId === null ? (
            NO_VALUE
          ) : (
            <Anchor component={Link} href={`/projects/${call.projectId}`} inherit>
              {call.projectName ?? call.projectId}
            </Anchor>
          )}
        </DetailRow>
        <DetailRow label="Gateway token">
          <Anchor component={Link} href={`/keys/${call.keyId}`} inherit>
            {call.keyName ?? call.keyPrefix ?? call.keyId}
          </Anchor>
        </DetailRow>
        <DetailRow label="Provider account">
          <Anchor component={Link} href={`/providers/accounts/${call.accountId}`} inherit>
            {providerLabel(call.providerSlug)}
          </Anchor>
        </DetailRow>
        {call.runId !== null && (
          <DetailRow label="Run">
            <Anchor component={Link} href={`/runs/${call.runId}`} inherit>
              {call.runId}
            </Anchor>
          </DetailRow>
        )}
        <DetailRow label="Time">{formatExactTime(call.createdAt)}</DetailRow>
        <DetailRow label="Request id">
          <InlineCopy value={call.requestId} what="request id" />
        </DetailRow>
      </DetailSection>
      <DetailSection title="Tokens and cost">
        <LogFieldRows section="Tokens and cost" call={call} />
      </DetailSection>
      <DetailSection title="Time and size">
        <LogFieldRows section="Time and size" call={call} />
        <DetailRow label="Provider status">{call.upstreamStatus === 0 ? 'no response' : call.upstreamStatus}</DetailRow>
      </DetailSection>
      <CallFilterButtons
        filters={[
          ['agent', 'agent', call.agentId],
          ['token', 'key', call.keyId],
          ['run', 'run', call.runId],
          ['model', 'model', call.model],
        ]}
        onFilter={onFilter}
      />
    </Stack>
  );
}

type LogFieldRow = (typeof LOG_FIELD_ROWS)[number];

interface LogFieldRowsProps {
  readonly section: 'Tokens and cost' | 'Time and size';
  readonly call: ForwardedCall;
}

/** The fields of a section, each followed by its parts. */
function LogFieldRows({ section, call }: LogFieldRowsProps) {
  const fields = LOG_FIELD_ROWS.filter(({ shown }) => shown?.section === section);
  const partsOf = (parent?: string) => fields.filter(({ shown }) => shown?.partOf === parent);
  return partsOf()
    .flatMap((field) => [field, ...partsOf(field.name)])
    .map((field) => (
      <DetailRow
        key={field.name}
        label={field.shown?.label ?? field.name}
        isSubtotal={field.shown?.partOf !== undefined}
      >
        {formatLogField(field, call)}
      </DetailRow>
    ));
}

function formatLogField({ name, shown }: LogFieldRow, call: ForwardedCall): string {
  const value = call[name];
  if (value === null) return NO_VALUE;
  if (name === 'streamed' && call.websocket) return 'WebSocket';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  if (shown?.unit === 'cents') return formatCents(value);
  if (shown?.unit === 'milliseconds') return formatMilliseconds(value);
  return shown?.unit === 'bytes' ? formatBytes(value) : formatCount(value);
}
