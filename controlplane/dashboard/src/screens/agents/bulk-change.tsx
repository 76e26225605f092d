/** Pauses, resumes or warns several agents. */
import { Text } from '@mantine/core';
import { BulkDialog } from '../../parts/bulk-dialog.js';
import { BulkThresholds } from '../../parts/bulk-thresholds.js';
import { agentsChanged, setAgentStatus, setThresholds } from '../../resources/agent-changes.js';
import type { Agent } from '../../resources/agents.js';

export interface BulkAgent extends Pick<Agent, 'id' | 'name' | 'status' | 'usageThresholds' | 'budgetCentsMonthly'> {}

export type BulkKind = 'pause' | 'resume' | 'thresholds';

interface BulkChangeProps {
  readonly kind: BulkKind;
  readonly agents: readonly BulkAgent[];
  readonly onClose: () => void;
}

const agentsOf = (count: number): string => (count === 1 ? '1 agent' : `${count} agents`);

const STATUS = {
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

export function BulkChange({ kind, agents, onClose }: BulkChangeProps) {
  if (kind === 'thresholds')
    return <BulkThresholds agents={agents} save={setThresholds} onDone={agentsChanged} onClose={onClose} />;
  const { status, word, done, means } = STATUS[kind];
  return (
    <BulkDialog
      title={`${word} ${agentsOf(agents.length)}`}
      things={agents}
      action={(count) => `${word} ${agentsOf(count)}`}
      done={done}
      whyNot={(agent) => {
        if (agent.status === 'revoked') return 'revoked, stays so';
        return agent.status === status ? `is ${status} already` : null;
      }}
      now={(agent) => agent.status}
      act={({ id }) => setAgentStatus(id, status)}
      onDone={agentsChanged}
      onClose={onClose}
    >
      <Text size="sm">{means}</Text>
    </BulkDialog>
  );
}
