/** Shows the rejection of a first call with its reason and a link to the remedy. */
import { AGENT_LIMITS, rejectionReason } from '@acg/base/limit-definitions';
import { type RejectionReason, rejectionAdvice } from '@acg/base/rejection-reasons';
import { Alert, Button, Group, Text } from '@mantine/core';
import { useRef } from 'react';
import { Link } from 'wouter';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';

const REFETCH_MS = 2_000;

interface Fix {
  readonly label: string;
  /** A step of the setup. */
  readonly step?: number;
  /** A tab of the agent's page. */
  readonly tab?: string;
}

const PROVIDER: Fix = { label: 'Add provider', step: 2 };
const LIMITS: Fix = { label: 'Open limits', tab: 'limits' };
const TOKEN: Fix = { label: 'Create another token', step: 3 };
const FIX_BY_REASON: Readonly<Partial<Record<RejectionReason, Fix>>> = {
  not_assigned: PROVIDER,
  unknown_provider: PROVIDER,
  needs_credentials: { label: 'Enter credential', tab: 'providers' },
  sensitive_path: { label: 'Open providers', tab: 'providers' },
  paused: { label: 'Open the agent', tab: 'overview' },
  revoked: TOKEN,
  unauthorized: TOKEN,
  ...Object.fromEntries(AGENT_LIMITS.map((row) => [rejectionReason(row), LIMITS])),
};

interface FirstRejectionAlertProps {
  readonly agentId: string;
  readonly onStep: (step: number) => void;
}

export function FirstRejectionAlert({ agentId, onStep }: FirstRejectionAlertProps) {
  const rejectionsQuery = useQuery({
    queryKey: ['usage', 'refusals', 'first', agentId],
    queryFn: () => api.get('/v1/usage/refusals', { params: { query: { agentId, period: '24h' } } }),
    refetchInterval: REFETCH_MS,
  });
  const rejections = rejectionsQuery.data?.refusals ?? [];
  /** Rejections by reason when this step opened; higher counts are new. */
  const initialCounts = useRef<ReadonlyMap<string, number> | null>(null);
  if (initialCounts.current === null && rejectionsQuery.isFetchedAfterMount) {
    initialCounts.current = new Map(rejections.map(({ reason, count }) => [reason, count]));
  }
  const newRejection = rejections.find(({ reason, count }) => count > (initialCounts.current?.get(reason) ?? 0));
  const rejection = newRejection ?? rejections[0];
  if (rejection === undefined) return null;
  const { cause, remedy } = rejectionAdvice(rejection.reason);
  const fix = FIX_BY_REASON[rejection.reason as RejectionReason];
  return (
    <Alert
      color="yellow"
      variant="light"
      role="alert"
      title={
        newRejection === undefined
          ? 'An earlier call reached the gateway and was rejected'
          : 'Your call reached the gateway and was rejected'
      }
    >
      <Text size="sm">
        {cause} {remedy}
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
