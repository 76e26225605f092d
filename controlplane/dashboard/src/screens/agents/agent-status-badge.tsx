import { StatusBadge } from '../../components/feedback/status-badge.js';

const TONES = { active: 'success', paused: 'warning', revoked: 'error' } as const;

export const AgentStatusBadge = ({ status }: { readonly status: keyof typeof TONES }) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
);
