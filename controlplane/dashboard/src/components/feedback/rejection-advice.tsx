/** Explains a rejection reason and links to the page that resolves it. */
import { LIMITS, rejectionReason } from '@acg/base/limit-definitions';
import { type RejectionReason, rejectionAdvice } from '@acg/base/rejection-reasons';
import { Anchor, Text } from '@mantine/core';
import { Link } from 'wouter';

interface AdviceLink {
  readonly label: string;
  /** A query of the agent's page, or an absolute path. */
  readonly to: string;
}

const LIMITS_LINK: AdviceLink = { label: 'Agent limits', to: '?tab=limits' };
const PROVIDERS_LINK: AdviceLink = { label: 'Agent providers', to: '?tab=providers' };
const POLICY_LINK: AdviceLink = { label: 'Agent policy', to: '?tab=policy' };
const AGENT_LINK: AdviceLink = { label: 'Agent page', to: '' };

const LINK_BY_LIMIT_SCOPE = {
  agent_provider: LIMITS_LINK,
  agent: LIMITS_LINK,
  project: { label: 'Projects', to: '/projects' },
  org: { label: 'Settings', to: '/settings?tab=organization' },
};

const LINK_BY_REASON: Readonly<Partial<Record<RejectionReason, AdviceLink>>> = {
  not_assigned: PROVIDERS_LINK,
  needs_credentials: PROVIDERS_LINK,
  sensitive_path: PROVIDERS_LINK,
  denied_call: POLICY_LINK,
  denied_model: POLICY_LINK,
  denied_tool: POLICY_LINK,
  rpm_tool: POLICY_LINK,
  unknown_provider: { label: 'How to connect', to: '?tab=connect' },
  paused: AGENT_LINK,
  revoked: AGENT_LINK,
  ...Object.fromEntries(LIMITS.map((row) => [rejectionReason(row), LINK_BY_LIMIT_SCOPE[row.scope]])),
  budget_never_fits: LIMITS_LINK,
  budget_in_flight: LIMITS_LINK,
  unauthorized: { label: 'Gateway tokens', to: '/keys' },
  agent_out_of_scope: { label: 'Gateway tokens', to: '/keys' },
};

interface RejectionAdviceProps {
  readonly reason: string;
  /** Null: all agents. */
  readonly agentId: string | null;
}

export function RejectionAdvice({ reason, agentId }: RejectionAdviceProps) {
  const { cause, remedy } = rejectionAdvice(reason);
  const link = LINK_BY_REASON[reason as RejectionReason];
  const isAbsolutePath = link?.to.startsWith('/') === true;
  return (
    <>
      <Text size="sm" span display="block">
        {cause}
      </Text>
      <Text size="sm" c="dimmed" span display="block">
        {remedy}{' '}
        {link !== undefined && (isAbsolutePath || agentId !== null) && (
          <Anchor
            component={Link}
            href={isAbsolutePath ? link.to : `/agents/${agentId}${link.to}`}
            inherit
            underline="always"
          >
            {link.label}
          </Anchor>
        )}
      </Text>
    </>
  );
}
