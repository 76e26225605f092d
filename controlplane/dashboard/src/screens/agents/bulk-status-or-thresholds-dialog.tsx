/** Pauses or resumes several agents, or sets their budget thresholds. */
import { Text } from '@mantine/core';
import { BulkActionDialog } from '../../components/agents/bulk-action-dialog.js';
import { BulkBudgetThresholdsDialog } from '../../components/agents/bulk-budget-thresholds-dialog.js';
import { formatAgentCount } from '../../format/format.js';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';
import {
  invalidateAgents,
  setAgentStatus,
  setUsageThresholds,
} from '../../resources/agent-status-and-threshold-changes.js';

export interface BulkAgent extends Pick<Agent, 'id' | 'name' | 'status' | 'usageThresholds' | 'budgetCentsMonthly'> {}

export type BulkKind = 'pause' | 'resume' | 'thresholds';

interface BulkStatusOrThresholdsDialogProps {
  readonly kind: BulkKind;
  readonly agents: readonly BulkAgent[];
  readonly onClose: () => void;
}

const STATUS_CHANGES = {
  pause: {
    status: 'paused',
    word: 'Pause',
    done: 'paused',
    means: 'Their calls are rejected within a second, until you resume them. Tokens, limits and credentials stay.',
  },
  resume: {
    status: 'active',
    word: 'Resume',
    done: 'resumed',
    means: 'They can call again within a second, with their previous limits and credentials.',
  },
} as const;

export function BulkStatusOrThresholdsDialog({ kind, agents, onClose }: BulkStatusOrThresholdsDialogProps) {
  if (kind === 'thresholds')
    return (
      <BulkBudgetThresholdsDialog
        agents={agents}
        save={setUsageThresholds}
        onDone={invalidateAgents}
        onClose={onClose}
      />
    );
  const { status, word, done, means } = STATUS_CHANGES[kind];
  return (
    <BulkActionDialog
      title={`${word} ${formatAgentCount(agents.length)}`}
      items={agents}
      action={(count) => `${word} ${formatAgentCount(count)}`}
      doneLabel={done}
      skipReason={(agent) => {
        if (agent.status === 'revoked') return 'revoked, not changed';
        return agent.status === status ? `already ${status}` : null;
      }}
      currentState={(agent) => agent.status}
      run={({ id }) => setAgentStatus(id, status)}
      onDone={invalidateAgents}
      onClose={onClose}
    >
      <Text size="sm">{means}</Text>
    </BulkActionDialog>
  );
}
