/** Gateway tokens (the API's keys). */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';

const LIST_LIMIT = 100;

export const useAgentKeys = (agentId: string) =>
  useQuery({
    queryKey: ['keys', agentId],
    enabled: agentId !== '',
    queryFn: async () => (await api.get('/v1/api-keys', { params: { query: { agentId, limit: LIST_LIMIT } } })).keys,
  });

interface NewKeyInput {
  readonly name: string;
  readonly scope?: 'agent' | 'project' | 'org';
  readonly agentId?: string;
  readonly projectId?: string;
  readonly expiresAt?: string | null;
}

/** The response holds the token's secret; only the caller keeps it. */
export const useCreateKey = () =>
  useMutation({
    mutationFn: (body: NewKeyInput) => api.post('/v1/api-keys', { body }),
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  });
