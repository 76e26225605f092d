/** Pauses, resumes or warns several agents. */
import { Text } from '@mantine/core';
import { BulkActionDialog } from '../../components/agents/bulk-action-dialog.js';
import { BulkThresholdsDialog } from '../../components/agents/bulk-thresholds-dialog.js';
import { invalidateAgents, setAgentStatus, setUsageThresholds } from '../../resources/agent-mutations.js';
import type { Agent } from '../../resources/agents.js';

export interface BulkAgent extends Pick<Agent, 'id' | 'name' | 'status' | 'usageThresholds' | 'budgetCentsMonthly'> {}

export type BulkKind = 'pause' | 'resume' | 'thresholds';

interface BulkChangeDialogProps {
  readonly kind: BulkKind;
  readonly agents: readonly BulkAgent[];
  readonly onClose: () => void;
}

const formatAgentCount = (count: number): string => (count === 1 ? '1 agent' : `${count} agents`);

const STATUS_CHANGES = {
  pause: {
    status: 'paused',
    word: 'Pause',
    done: 'paused',
    means: 'Their calls are refused within a second, until somebody resumes them. Tokens, limits and credentials stay.',
  },
  resume: {
    status: 'active',
    word: 'Resume',
    done: 'resumed',
    means: 'They may call again within a second, with the limits and credentials that they had.',
  },
} as const;

export function BulkChangeDialog({ kind, agents, onClose }: BulkChangeDialogProps) {
  if (kind === 'thresholds')
    return (
      <BulkThresholdsDialog agents={agents} save={setUsageThresholds} onDone={invalidateAgents} onClose={onClose} />
    );
  const { status, word, done, means } = STATUS_CHANGES[kind];
  return (
    <BulkActionDialog
      title={`${word} ${formatAgentCount(agents.length)}`}
      items={agents}
      action={(count) => `${word} ${formatAgentCount(count)}`}
      doneLabel={done}
      skipReason={(agent) => {
        if (agent.status === 'revoked') return 'revoked, stays so';
        return agent.status === status ? `is ${status} already` : null;
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
