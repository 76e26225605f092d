/** Changes of agents that are made to several at once. */
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';

export const setAgentStatus = (id: string, status: 'active' | 'paused' | 'revoked') =>
  api.patch('/v1/agents/{id}/status', { params: { path: { id } }, body: { status } });

export const setUsageThresholds = (id: string, usageThresholds: number[]) =>
  api.patch('/v1/agents/{id}', { params: { path: { id } }, body: { usageThresholds } });

/** Everything that shows an agent is asked again. */
export const invalidateAgents = () => queryClient.invalidateQueries({ queryKey: ['agents'] });
