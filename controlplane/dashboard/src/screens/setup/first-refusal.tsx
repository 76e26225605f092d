/** A refused call is news, too: it has reached the gateway. Says why, and leads to what mends it. */
import { AGENT_LIMITS, refusalReason } from '@acg/base/limits';
import { Alert, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api.js';
import { adviceOf } from '../../parts/refusal-advice.js';

const ASK_EVERY_MS = 2_000;

interface Fix {
  readonly label: string;
  /** Of the setup itself. */
  readonly step?: number;
  /** Of the agent's page. */
  readonly tab?: string;
}

const PROVIDER: Fix = { label: 'Add the provider', step: 2 };
const LIMITS: Fix = { label: 'To the agent’s limits', tab: 'limits' };
const TOKEN: Fix = { label: 'Make another token', step: 3 };
const FIXES: Readonly<Record<string, Fix>> = {
  not_assigned: PROVIDER,
  unknown_provider: PROVIDER,
  needs_credentials: { label: 'Set the credential again', tab: 'providers' },
  denied_sensitive_path: { label: 'To the agent’s providers', tab: 'providers' },
  paused: { label: 'To the agent', tab: 'overview' },
  revoked: TOKEN,
  unauthorized: TOKEN,
  ...Object.fromEntries(AGENT_LIMITS.map((row) => [refusalReason(row), LIMITS])),
};

interface FirstRefusalProps {
  readonly agentId: string;
  readonly onStep: (step: number) => void;
}

export function FirstRefusal({ agentId, onStep }: FirstRefusalProps) {
  const asked = useQuery({
    queryKey: ['usage', 'refusals', 'first', agentId],
    queryFn: () => api.get('/v1/usage/refusals', { params: { query: { agentId, period: '24h' } } }),
    refetchInterval: ASK_EVERY_MS,
  });
  const refusals = asked.data?.refusals ?? [];
  /** As many as there were of each reason when this began: what is more is news. */
  const before = useRef<ReadonlyMap<string, number> | null>(null);
  if (before.current === null && asked.isFetchedAfterMount) {
    before.current = new Map(refusals.map(({ reason, count }) => [reason, count]));
  }
  const fresh = refusals.find(({ reason, count }) => count > (before.current?.get(reason) ?? 0));
  const refusal = fresh ?? refusals[0];
  if (refusal === undefined) return null;
  const { what, todo } = adviceOf(refusal.reason);
  const fix = FIXES[refusal.reason];
  return (
    <Alert
      color="yellow"
      variant="light"
      role="alert"
      title={
        fresh === undefined ? 'An earlier call reached us and was refused' : 'Your call reached us and was refused'
      }
    >
      <Text size="sm">
        {what} {todo}
      </Text>
      {fix !== undefined && (
        <Group mt="sm">
          {fix.step === undefined ? (
            <Button component={Link} href={`/agents/${agentId}?tab=${fix.tab}`} size="xs" variant="default">
              {fix.label}
            </Button>
          ) : (
            <Button size="xs" variant="default" onClick={() => onStep(fix.step!)}>
              {fix.label}
            </Button>
          )}
        </Group>
      )}
    </Alert>
  );
}
