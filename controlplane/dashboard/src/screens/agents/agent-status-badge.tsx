import { StatusBadge } from '../../components/feedback/status-badge.js';

const TONES = { active: 'good', paused: 'warn', revoked: 'bad' } as const;

export const AgentStatusBadge = ({ status }: { readonly status: keyof typeof TONES }) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
);
