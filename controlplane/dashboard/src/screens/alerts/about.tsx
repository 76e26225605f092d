/** What an event is about, and where one looks next. */
import { Anchor, Button, Stack } from '@mantine/core';
import { Link } from 'wouter';
import { NONE } from '../../format/format.js';

interface AboutProps {
  readonly data: Readonly<Record<string, unknown>>;
  readonly onlyAgent: (agentId: string) => void;
}

export function About({ data, onlyAgent }: AboutProps) {
  const { agentId, agentName, providerSlug, endpointId } = data;
  const isOfAgent = typeof agentId === 'string';
  if (!isOfAgent && typeof providerSlug !== 'string' && typeof endpointId !== 'string') return NONE;
  return (
    <Stack gap={6} align="flex-start">
      {isOfAgent && (
        <Anchor component={Link} href={`/agents/${agentId}`} inherit underline="always" className="acg-break">
          {typeof agentName === 'string' ? agentName : `Agent ${agentId.slice(0, 8)}`}
        </Anchor>
      )}
      {typeof providerSlug === 'string' && (
        <Anchor
          component={Link}
          href={isOfAgent ? `/agents/${agentId}?tab=providers` : '/providers?tab=circuits'}
          inherit
          underline="always"
        >
          {providerSlug}
        </Anchor>
      )}
      {typeof endpointId === 'string' && (
        <Anchor component={Link} href={`/webhooks/${endpointId}`} inherit underline="always">
          Endpoint {endpointId.slice(0, 8)}
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
