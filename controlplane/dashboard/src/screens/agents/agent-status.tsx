import { StatusBadge } from '../../parts/status-badge.js';

const TONES = { active: 'good', paused: 'warn', revoked: 'bad' } as const;

export const AgentStatus = ({ status }: { readonly status: keyof typeof TONES }) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
);
