/** What a reason means, what to do about it, and the way there. */
import { LIMITS, refusalReason } from '@acg/base/limits';
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';
import { adviceOf } from '../../parts/refusal-advice.js';

interface Way {
  readonly label: string;
  /** The tab of the agent's page, or an address of its own. */
  readonly to: string;
}

const limits: Way = { label: 'Its limits', to: '?tab=limits' };
const providers: Way = { label: 'Its providers', to: '?tab=providers' };
const page: Way = { label: 'Its page', to: '' };

const WAY_TO_LIMIT = {
  agent_provider: limits,
  agent: limits,
  project: { label: 'Projects', to: '/projects' },
  org: { label: 'Settings', to: '/settings?tab=organization' },
};

const WAYS: Readonly<Record<string, Way>> = {
  not_assigned: providers,
  needs_credentials: providers,
  denied_sensitive_path: providers,
  unknown_provider: { label: 'How to connect', to: '?tab=connect' },
  paused: page,
  revoked: page,
  ...Object.fromEntries(LIMITS.map((row) => [refusalReason(row), WAY_TO_LIMIT[row.scope]])),
  budget_never_fits: limits,
  budget_in_flight: limits,
  unauthorized: { label: 'Keys', to: '/keys' },
  agent_out_of_scope: { label: 'Keys', to: '/keys' },
};

interface WhatToDoProps {
  readonly reason: string;
  /** Null: of all agents. */
  readonly agentId: string | null;
}

export function WhatToDo({ reason, agentId }: WhatToDoProps) {
  const { what, todo } = adviceOf(reason);
  const way = WAYS[reason];
  const own = way?.to.startsWith('/') === true;
  return (
    <>
      <Text size="sm" span display="block">
        {what}
      </Text>
      <Text size="sm" c="dimmed" span display="block">
        {todo}{' '}
        {way !== undefined && (own || agentId !== null) && (
          <Anchor component={Link} href={own ? way.to : `/agents/${agentId}${way.to}`} inherit underline="always">
            {way.label}
          </Anchor>
        )}
      </Text>
    </>
  );
}
