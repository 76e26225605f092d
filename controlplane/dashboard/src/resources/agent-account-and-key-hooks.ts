/** Agents with their provider accounts and gateway tokens, for several screens. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';
import { invalidateAgents, setAgentStatus } from './agent-status-and-threshold-changes.js';
import { type CredentialInput, invalidateAccounts, testCredential } from './provider-account-mutations.js';

const LIST_LIMIT = 100;

export const useProjects = () =>
  useQuery({
    queryKey: ['projects', 'all'],
    queryFn: async () => (await api.get('/v1/projects', { params: { query: { limit: LIST_LIMIT } } })).projects,
    staleTime: 60_000,
  });

export const useProviders = () =>
  useQuery({
    queryKey: ['custom-providers', 'all'],
    queryFn: async () =>
      (await api.get('/v1/custom-providers', { params: { query: { limit: LIST_LIMIT } } })).providers,
    staleTime: 60_000,
  });

export const useAgent = (id: string) =>
  useQuery({
    queryKey: ['agents', 'one', id],
    queryFn: async () => (await api.get('/v1/agents/{id}', { params: { path: { id } } })).agent,
  });

export type Agent = NonNullable<ReturnType<typeof useAgent>['data']>;

/** With an empty id no request is sent. */
export const useAgentAccounts = (agentId: string) =>
  useQuery({
    queryKey: ['accounts', agentId],
    enabled: agentId !== '',
    queryFn: async () =>
      (await api.get('/v1/providers/accounts', { params: { query: { agentId, limit: LIST_LIMIT } } })).accounts,
  });

export const useAgentKeys = (agentId: string) =>
  useQuery({
    queryKey: ['keys', agentId],
    enabled: agentId !== '',
    queryFn: async () => (await api.get('/v1/api-keys', { params: { query: { agentId, limit: LIST_LIMIT } } })).keys,
  });

type AgentPatch = NonNullable<Parameters<typeof patchAgent>[1]>;
const patchAgent = (id: string, body: NonNullable<Parameters<typeof api.patch<'/v1/agents/{id}'>>[1]>['body']) =>
  api.patch('/v1/agents/{id}', { params: { path: { id } }, body });

export const useUpdateAgent = (id: string) =>
  useMutation({ mutationFn: (body: AgentPatch) => patchAgent(id, body), onSuccess: invalidateAgents });

export const useSetAgentStatus = (id: string) =>
  useMutation({
    mutationFn: (status: Agent['status']) => setAgentStatus(id, status),
    onSuccess: invalidateAgents,
  });

export const useDeleteAgent = (id: string) =>
  useMutation({
    mutationFn: () => api.delete('/v1/agents/{id}', { params: { path: { id } } }),
    // Except the deleted agent itself: it would not be found.
    onSuccess: () =>
      queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'agents' && queryKey[2] !== id }),
  });

interface NewAccountInput extends CredentialInput {
  readonly agentId: string;
}

/**
 * Tests the credential with the provider first. Throws the provider's rejection; a credential that could not be tested
 * is stored.
 */
export const useAddAccount = () =>
  useMutation({
    mutationFn: async ({ agentId, ...given }: NewAccountInput) => {
      const body = await testCredential(given);
      await api.post('/v1/providers/accounts', { body: { agentId, ...body } });
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
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
