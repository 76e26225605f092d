/** All details of a call that the gateway rejected, with cause and remedy. */
import { Anchor, Code, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { InlineCopy } from '../../components/buttons/inline-copy.js';
import { CallOutcomeBadge } from '../../components/feedback/call-status-badge.js';
import { DetailRow, DetailSection } from '../../components/feedback/detail-row.js';
import { RejectionAdvice } from '../../components/feedback/rejection-advice.js';
import type { RejectedCall } from '../../components/reports/merged-call.js';
import { formatExactTime, NO_VALUE } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { CallFilterButtons } from './call-filter-buttons.js';
import type { CallFilters } from './fetch-calls-and-format-fields.js';

interface RejectedCallDetailsProps {
  readonly call: RejectedCall;
  readonly onFilter: (changes: Partial<CallFilters>) => void;
}

export const RejectedCallDetails = ({ call, onFilter }: RejectedCallDetailsProps) => (
  <Stack gap="lg">
    <div>
      <Text className="acg-break-anywhere" size="sm">
        {call.providerSlug !== null && providerLabel(call.providerSlug)} <Code>{call.method}</Code> {call.path}
      </Text>
      <Text size="sm" component="div" mt="xs">
        <CallOutcomeBadge forwarded={null} rejected={call} />
      </Text>
    </div>
    <section aria-label="Why the gateway rejected it">
      <RejectionAdvice reason={call.reason} agentId={call.agentId} />
    </section>
    <DetailSection title="Caller">
      <DetailRow label="Agent">
        <Anchor component={Link} href={`/agents/${call.agentId}`} inherit>
          {call.agentName ?? call.agentId}
        </Anchor>
      </DetailRow>
      <DetailRow label="Gateway token">
        <Anchor component={Link} href={`/keys/${call.keyId}`} inherit>
          {call.keyName ?? call.keyPrefix ?? call.keyId}
        </Anchor>
      </DetailRow>
      <DetailRow label="Client network">{call.clientNetwork}</DetailRow>
      <DetailRow label="Model or tool">{call.tool ?? call.model ?? NO_VALUE}</DetailRow>
      {call.budgetId !== null && (
        <DetailRow label="Budget">
          <InlineCopy value={call.budgetId} what="budget id" />
        </DetailRow>
      )}
      <DetailRow label="Time">{formatExactTime(call.rejectedAt)}</DetailRow>
      <DetailRow label="Request id">
        <InlineCopy value={call.id} what="request id" />
      </DetailRow>
    </DetailSection>
    <CallFilterButtons
      filters={[
        ['agent', 'agent', call.agentId],
        ['token', 'key', call.keyId],
        ['reason', 'reason', call.reason],
      ]}
      onFilter={onFilter}
    />
  </Stack>
);
