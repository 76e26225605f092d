/** Links from an event to its agent, provider or webhook endpoint. */
import { Anchor, Button, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { NO_VALUE } from '../../format/format.js';
import { providerLabel } from '../../messages/provider-labels.js';

interface EventSubjectLinksProps {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly onFilterAgent: (agentId: string) => void;
}

/** Tab of the agent's page where the event's cause can be changed. */
const AGENT_TAB_BY_EVENT: Readonly<Record<string, string>> = {
  'agent.budget_exceeded': '?tab=limits',
  'usage.threshold': '?tab=limits',
  'abuse.detected': '?tab=keys',
};

function providerPath(event: string, agentId: string | null): string {
  if (agentId !== null) return `/agents/${agentId}?tab=providers`;
  return event.startsWith('credential.') ? '/providers?tab=shared' : '/providers?tab=circuits';
}

export function EventSubjectLinks({ event, data, onFilterAgent }: EventSubjectLinksProps) {
  const { agentId, agentName, providerSlug, endpointId } = data;
  const isOfAgent = typeof agentId === 'string';
  const name = typeof agentName === 'string' ? agentName : `Agent ${String(agentId).slice(0, 8)}`;
  if (!isOfAgent && typeof providerSlug !== 'string' && typeof endpointId !== 'string') return NO_VALUE;
  return (
    <Stack gap={6} align="flex-start" className="acg-event-subject">
      {isOfAgent && (
        // A deleted agent has no page, but its calls are still listed.
        <Anchor
          component={Link}
          href={
            event === 'agent.deleted'
              ? `/calls?agent=${agentId}`
              : `/agents/${agentId}${AGENT_TAB_BY_EVENT[event] ?? ''}`
          }
          inherit
          underline="always"
          className="acg-break-anywhere"
        >
          {name}
        </Anchor>
      )}
      {typeof providerSlug === 'string' && (
        <Anchor component={Link} href={providerPath(event, isOfAgent ? agentId : null)} inherit underline="always">
          {providerLabel(providerSlug)}
        </Anchor>
      )}
      {typeof endpointId === 'string' && (
        <Anchor component={Link} href={`/webhooks/${endpointId}?status=failed`} inherit underline="always">
          Failed deliveries
        </Anchor>
      )}
      {isOfAgent && (
        <Button variant="transparent" size="compact-xs" px={0} fw={400} onClick={() => onFilterAgent(agentId)}>
          Only this agent
        </Button>
      )}
    </Stack>
  );
}
