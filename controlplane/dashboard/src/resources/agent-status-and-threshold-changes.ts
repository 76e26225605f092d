/** Changes to agents that bulk actions share. */
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';

export const setAgentStatus = (id: string, status: 'active' | 'paused' | 'revoked') =>
  api.patch('/v1/agents/{id}/status', { params: { path: { id } }, body: { status } });

export const setUsageThresholds = (id: string, usageThresholds: number[]) =>
  api.patch('/v1/agents/{id}', { params: { path: { id } }, body: { usageThresholds } });

/** Refetches everything that shows an agent. */
export const invalidateAgents = () => queryClient.invalidateQueries({ queryKey: ['agents'] });
