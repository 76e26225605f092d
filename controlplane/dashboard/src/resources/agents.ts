/** Agents with their accounts and tokens: what several screens ask and change. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.js';
import { queryClient } from '../api/query-client.js';
import { accountsChanged, type Credentials, testFirst } from './accounts.js';
import { agentsChanged, setAgentStatus } from './agent-changes.js';

const ALL = 100;

export const useProjects = () =>
  useQuery({
    queryKey: ['projects', 'all'],
    queryFn: async () => (await api.get('/v1/projects', { params: { query: { limit: ALL } } })).projects,
    staleTime: 60_000,
  });

export const useProviders = () =>
  useQuery({
    queryKey: ['custom-providers', 'all'],
    queryFn: async () => (await api.get('/v1/custom-providers', { params: { query: { limit: ALL } } })).providers,
    staleTime: 60_000,
  });

export const useAgent = (id: string) =>
  useQuery({
    queryKey: ['agents', 'one', id],
    queryFn: async () => (await api.get('/v1/agents/{id}', { params: { path: { id } } })).agent,
  });

export type Agent = NonNullable<ReturnType<typeof useAgent>['data']>;

/** Of no agent yet with an empty id: then nothing is asked. */
export const useAccounts = (agentId: string) =>
  useQuery({
    queryKey: ['accounts', agentId],
    enabled: agentId !== '',
    queryFn: async () =>
      (await api.get('/v1/providers/accounts', { params: { query: { agentId, limit: ALL } } })).accounts,
  });

export const useKeys = (agentId: string) =>
  useQuery({
    queryKey: ['keys', agentId],
    enabled: agentId !== '',
    queryFn: async () => (await api.get('/v1/api-keys', { params: { query: { agentId, limit: ALL } } })).keys,
  });

type AgentPatch = NonNullable<Parameters<typeof patchAgent>[1]>;
const patchAgent = (id: string, body: NonNullable<Parameters<typeof api.patch<'/v1/agents/{id}'>>[1]>['body']) =>
  api.patch('/v1/agents/{id}', { params: { path: { id } }, body });

export const useChangeAgent = (id: string) =>
  useMutation({ mutationFn: (body: AgentPatch) => patchAgent(id, body), onSuccess: agentsChanged });

export const useSetStatus = (id: string) =>
  useMutation({
    mutationFn: (status: Agent['status']) => setAgentStatus(id, status),
    onSuccess: agentsChanged,
  });

export const useDeleteAgent = (id: string) =>
  useMutation({
    mutationFn: () => api.delete('/v1/agents/{id}', { params: { path: { id } } }),
    // All but itself: it would not be found.
    onSuccess: () =>
      queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === 'agents' && queryKey[2] !== id }),
  });

interface NewAccount extends Credentials {
  readonly agentId: string;
}

/** Tests the credential with the provider first; the provider's no is thrown, what could not be tested is taken. */
export const useAddAccount = () =>
  useMutation({
    mutationFn: async ({ agentId, ...given }: NewAccount) => {
      const body = await testFirst(given);
      await api.post('/v1/providers/accounts', { body: { agentId, ...body } });
    },
    gcTime: 0,
    onSuccess: accountsChanged,
  });

interface NewKey {
  readonly name: string;
  readonly scope?: 'agent' | 'project' | 'org';
  readonly agentId?: string;
  readonly projectId?: string;
  readonly expiresAt?: string | null;
}

/** The answer holds the secret: it is kept by nobody but the caller. */
export const useCreateKey = () =>
  useMutation({
    mutationFn: (body: NewKey) => api.post('/v1/api-keys', { body }),
    gcTime: 0,
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
  });
