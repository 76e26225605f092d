import { StatusBadge } from '../../components/feedback/status-badge.js';

const TONES = { active: 'success', paused: 'warning', revoked: 'error' } as const;

interface AgentStatusBadgeProps {
  readonly status: keyof typeof TONES;
  /** Of the month, cents; undefined: not known. */
  readonly monthCents: number | undefined;
  /** Null: no budget. */
  readonly budgetCents: number | null;
}

/** The status of an agent; `over budget` instead of `active` once the monthly budget is spent. */
export function AgentStatusBadge({ status, monthCents, budgetCents }: AgentStatusBadgeProps) {
  const isOverBudget = monthCents !== undefined && budgetCents !== null && monthCents >= budgetCents;
  if (status === 'active' && isOverBudget) return <StatusBadge tone="error">over budget</StatusBadge>;
  return <StatusBadge tone={TONES[status]}>{status}</StatusBadge>;
}
