/** Credentials that the accounts of many agents share: stored once, tried and replaced for all of them at once. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.js';
import { accountsChanged, type Credentials, testFirst } from './accounts.js';

const readCredentials = (query: { limit: number; offset?: number; providerSlug?: string }) =>
  api.get('/v1/credentials', { params: { query } });

export type SharedCredential = Awaited<ReturnType<typeof readCredentials>>['credentials'][number];

export const useSharedCredentials = (page: number, pageSize: number) =>
  useQuery({
    queryKey: ['credentials', 'list', page],
    queryFn: () => readCredentials({ limit: pageSize, offset: (page - 1) * pageSize }),
  });

/** Of one provider, for a choice. Of none with an empty slug: then nothing is asked. */
export const useCredentialsOf = (providerSlug: string) =>
  useQuery({
    queryKey: ['credentials', 'of', providerSlug],
    queryFn: async () => (await readCredentials({ limit: 100, providerSlug })).credentials,
    enabled: providerSlug !== '',
  });

export const useSharedCredential = (id: string) =>
  useQuery({
    queryKey: ['credentials', 'one', id],
    queryFn: async () => (await api.get('/v1/credentials/{id}', { params: { path: { id } } })).credential,
    enabled: id !== '',
  });

interface NewShared extends Credentials {
  readonly name: string;
  readonly projectId: string | null;
}

/** Tested with the provider first, as those of one agent are. */
export const useAddShared = () =>
  useMutation({
    mutationFn: async ({ name, projectId, ...given }: NewShared) => {
      const body = { name, ...(await testFirst(given)), ...(projectId === null ? {} : { projectId }) };
      return (await api.post('/v1/credentials', { body })).credential;
    },
    gcTime: 0,
    onSuccess: accountsChanged,
  });

export const useTestShared = () =>
  useMutation({
    mutationFn: (id: string) => api.post('/v1/credentials/{id}/test', { params: { path: { id } } }),
    onSettled: accountsChanged,
  });

export const useRotateShared = (id: string) =>
  useMutation({
    mutationFn: async (given: Credentials) => {
      const { credentials } = await testFirst(given);
      await api.post('/v1/credentials/{id}/rotate', { params: { path: { id } }, body: { credentials } });
    },
    gcTime: 0,
    onSuccess: accountsChanged,
  });

export const useRemoveShared = () =>
  useMutation({
    mutationFn: (id: string) => api.delete('/v1/credentials/{id}', { params: { path: { id } } }),
    onSuccess: accountsChanged,
  });

interface SharedWith {
  readonly agentId: string;
  readonly providerSlug: string;
  readonly credentialId: string;
}

/** Gives an agent an account on it. */
export const useShareWith = () =>
  useMutation({
    mutationFn: (body: SharedWith) => api.post('/v1/providers/accounts', { body }),
    onSuccess: accountsChanged,
  });
