/** Shared credentials: stored once for many agents' accounts, tested and replaced for all of them. */
import { keepPreviousData, useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { useQuery } from '../api/use-query.js';
import {
  type CredentialInput,
  invalidateAccounts,
  type RotationInput,
  testCredential,
} from './provider-account-mutations.js';
import { rotationRefetchInterval } from './rotation-refetch-interval.js';

export const CREDENTIAL_SORTS = ['createdAt', 'name', 'providerSlug', 'accounts', 'rotatedAt'] as const;

interface CredentialSorting {
  readonly sort?: (typeof CREDENTIAL_SORTS)[number];
  readonly order?: 'asc' | 'desc';
}

interface CredentialQuery extends CredentialSorting {
  readonly limit: number;
  readonly offset?: number;
  readonly providerSlug?: string;
}

const fetchSharedCredentials = (query: CredentialQuery) => api.get('/v1/credentials', { params: { query } });

export type SharedCredential = Awaited<ReturnType<typeof fetchSharedCredentials>>['credentials'][number];

export const useSharedCredentials = (page: number, pageSize: number, sorting: CredentialSorting = {}) =>
  useQuery({
    queryKey: ['credentials', 'list', page, pageSize, sorting],
    queryFn: () => fetchSharedCredentials({ ...sorting, limit: pageSize, offset: (page - 1) * pageSize }),
    placeholderData: keepPreviousData,
  });

/** Credentials of one provider, for a selection. With an empty slug no request is sent. */
export const useSharedCredentialsOfProvider = (providerSlug: string) =>
  useQuery({
    queryKey: ['credentials', 'of', providerSlug],
    queryFn: async () => (await fetchSharedCredentials({ limit: 100, providerSlug })).credentials,
    enabled: providerSlug !== '',
  });

export const useSharedCredential = (id: string) =>
  useQuery({
    queryKey: ['credentials', 'one', id],
    queryFn: async () => (await api.get('/v1/credentials/{id}', { params: { path: { id } } })).credential,
    enabled: id !== '',
    refetchInterval: ({ state }) => rotationRefetchInterval(state.data),
  });

interface NewSharedCredentialInput extends CredentialInput {
  readonly name: string;
  readonly projectId: string | null;
}

/** Tests the credential with the provider first, like {@link testCredential} for one agent. */
export const useCreateSharedCredential = () =>
  useMutation({
    mutationFn: async ({ name, projectId, ...given }: NewSharedCredentialInput) => {
      const body = { name, ...(await testCredential(given)), ...(projectId === null ? {} : { projectId }) };
      return (await api.post('/v1/credentials', { body })).credential;
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
  });

export const useTestSharedCredential = () =>
  useMutation({
    mutationFn: (id: string) => api.post('/v1/credentials/{id}/test', { params: { path: { id } } }),
    onSettled: invalidateAccounts,
  });

export const useRotateSharedCredential = (id: string) =>
  useMutation({
    mutationFn: async ({ options, ...given }: RotationInput) => {
      const { credentials } = await testCredential(given);
      await api.post('/v1/credentials/{id}/rotate', { params: { path: { id } }, body: { credentials, ...options } });
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
  });

export const useRenameSharedCredential = (id: string) =>
  useMutation({
    mutationFn: (name: string) => api.patch('/v1/credentials/{id}', { params: { path: { id } }, body: { name } }),
    onSuccess: invalidateAccounts,
  });

export const useDeleteSharedCredential = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/credentials/{id}', { params: { path: { id } } }),
    onSuccess: invalidateAccounts,
  });

interface AssignCredentialInput {
  readonly allowOpaque?: boolean;
  readonly agentId: string;
  readonly providerSlug: string;
  readonly credentialId: string;
}

/** Creates an account of the agent that uses the shared credential. */
export const useAssignSharedCredential = () =>
  useMutation({
    mutationFn: (body: AssignCredentialInput) => api.post('/v1/providers/accounts', { body }),
    onSuccess: invalidateAccounts,
  });
