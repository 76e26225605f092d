/** Agents with their provider accounts and gateway tokens, for several screens. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';
import { useQuery } from '../api/use-query.js';
import { invalidateAgents, setAgentStatus } from './agent-status-and-threshold-changes.js';
import { type CredentialInput, invalidateAccounts, testCredential } from './provider-account-mutations.js';

const LIST_LIMIT = 100;

export const useProjects = () =>
  useQuery({
    queryKey: ['projects', 'all'],
    queryFn: async () => (await api.get('/v1/projects', { params: { query: { limit: LIST_LIMIT } } })).projects,
    staleTime: 60_000,
  });

/**
 * The project of a new agent before the user chooses one: the only project, otherwise empty. An agent cannot be moved,
 * so a preselected project of several would put its spend on the wrong bill.
 */
export const onlyProjectId = (projects: readonly { readonly id: string }[] | undefined): string =>
  projects?.length === 1 ? projects[0]!.id : '';

const fetchProviderPage = (offset: number) =>
  api.get('/v1/custom-providers', { params: { query: { limit: LIST_LIMIT, offset } } });

/** All providers: those of the organization, then the built-in ones. */
export const useProviders = () =>
  useQuery({
    queryKey: ['custom-providers', 'all'],
    queryFn: async () => {
      const { providers, total } = await fetchProviderPage(0);
      for (let page = providers; page.length > 0 && providers.length < total; providers.push(...page))
        page = (await fetchProviderPage(providers.length)).providers;
      return providers;
    },
    staleTime: 60_000,
  });

/** The SDK of a built-in provider. Null: a provider of the organization, or none that is known. Undefined: loading. */
export function useProviderSdk(slug: string) {
  const providers = useProviders();
  const isBuiltIn = providers.data?.find((provider) => provider.slug === slug)?.builtIn === true;
  const detail = useQuery({
    queryKey: ['custom-providers', 'built-in', slug],
    queryFn: async () => (await api.get('/v1/providers/{slug}', { params: { path: { slug } } })).provider.sdk,
    enabled: isBuiltIn,
    staleTime: 60_000,
  });
  if (detail.data !== undefined) return detail.data;
  return providers.isPending || (isBuiltIn && detail.isPending) ? undefined : null;
}

/** With an empty id no request is sent. */
export const useAgent = (id: string) =>
  useQuery({
    queryKey: ['agents', 'one', id],
    enabled: id !== '',
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
  readonly allowOpaque?: boolean;
}

/**
 * Tests the credential with the provider first. Throws the provider's rejection; a credential that could not be tested
 * is stored.
 */
export const useAddAccount = () =>
  useMutation({
    mutationFn: async ({ agentId, allowOpaque = false, ...given }: NewAccountInput) => {
      const body = await testCredential({ ...given, agentId });
      await api.post('/v1/providers/accounts', { body: { agentId, ...body, ...(allowOpaque ? { allowOpaque } : {}) } });
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
