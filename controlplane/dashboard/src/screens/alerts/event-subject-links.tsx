/** What an event is about, and where one looks next. */
import { Anchor, Button, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { NO_VALUE } from '../../format/format.js';

interface EventSubjectLinksProps {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly onFilterAgent: (agentId: string) => void;
}

/** Where the agent's side of it is set. */
const AGENT_TAB_BY_EVENT: Readonly<Record<string, string>> = {
  'agent.budget_exceeded': '?tab=limits',
  'usage.threshold': '?tab=limits',
  'abuse.detected': '?tab=keys',
};

function providerPath(event: string, agentId: string | null): string {
  if (agentId !== null) return `/agents/${agentId}?tab=providers`;
  return event.startsWith('credential.') ? '/providers?tab=shared' : '/providers?tab=circuits';
}

export function EventSubjectLinks({ event, data, onFilterAgent: onlyAgent }: EventSubjectLinksProps) {
  const { agentId, agentName, providerSlug, endpointId } = data;
  const isOfAgent = typeof agentId === 'string';
  const name = typeof agentName === 'string' ? agentName : `Agent ${String(agentId).slice(0, 8)}`;
  if (!isOfAgent && typeof providerSlug !== 'string' && typeof endpointId !== 'string') return NO_VALUE;
  return (
    <Stack gap={6} align="flex-start" className="acg-about">
      {isOfAgent && (
        // There is no page of what is deleted; its calls are there.
        <Anchor
          component={Link}
          href={
            event === 'agent.deleted'
              ? `/calls?agent=${agentId}`
              : `/agents/${agentId}${AGENT_TAB_BY_EVENT[event] ?? ''}`
          }
          inherit
          underline="always"
          className="acg-break"
        >
          {name}
        </Anchor>
      )}
      {typeof providerSlug === 'string' && (
        <Anchor component={Link} href={providerPath(event, isOfAgent ? agentId : null)} inherit underline="always">
          {providerSlug}
        </Anchor>
      )}
      {typeof endpointId === 'string' && (
        <Anchor component={Link} href={`/webhooks/${endpointId}?status=failed`} inherit underline="always">
          Its failed deliveries
        </Anchor>
      )}
      {isOfAgent && (
        <Button variant="transparent" size="compact-xs" px={0} fw={400} onClick={() => onlyAgent(agentId)}>
          Only its events
        </Button>
      )}
    </Stack>
  );
}
