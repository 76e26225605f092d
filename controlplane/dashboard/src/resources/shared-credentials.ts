/** Credentials that the accounts of many agents share: stored once, tried and replaced for all of them at once. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { type CredentialInput, invalidateAccounts, testCredential } from './provider-accounts.js';

const fetchSharedCredentials = (query: { limit: number; offset?: number; providerSlug?: string }) =>
  api.get('/v1/credentials', { params: { query } });

export type SharedCredential = Awaited<ReturnType<typeof fetchSharedCredentials>>['credentials'][number];

export const useSharedCredentials = (page: number, pageSize: number) =>
  useQuery({
    queryKey: ['credentials', 'list', page],
    queryFn: () => fetchSharedCredentials({ limit: pageSize, offset: (page - 1) * pageSize }),
  });

/** Of one provider, for a choice. Of none with an empty slug: then nothing is asked. */
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
  });

interface NewSharedCredentialInput extends CredentialInput {
  readonly name: string;
  readonly projectId: string | null;
}

/** Tested with the provider first, as those of one agent are. */
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
    mutationFn: async (given: CredentialInput) => {
      const { credentials } = await testCredential(given);
      await api.post('/v1/credentials/{id}/rotate', { params: { path: { id } }, body: { credentials } });
    },
    gcTime: 0,
    onSuccess: invalidateAccounts,
  });

export const useDeleteSharedCredential = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/credentials/{id}', { params: { path: { id } } }),
    onSuccess: invalidateAccounts,
  });

interface AssignCredentialInput {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly credentialId: string;
}

/** Gives an agent an account on it. */
export const useAssignSharedCredential = () =>
  useMutation({
    mutationFn: (body: AssignCredentialInput) => api.post('/v1/providers/accounts', { body }),
    onSuccess: invalidateAccounts,
  });
