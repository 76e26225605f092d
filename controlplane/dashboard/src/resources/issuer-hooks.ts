/** The gateway as OpenID Connect issuer of the organization: its keys, and what to enter at providers. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { queryClient } from '../api/query-client.js';
import { useQuery } from '../api/use-query.js';

/** `agentId`: fills the instructions with the subject of this agent; empty: with a placeholder. */
export const useIssuer = (agentId: string) =>
  useQuery({
    queryKey: ['issuer', agentId],
    queryFn: async () => (await api.get('/v1/issuer', { params: { query: agentId === '' ? {} : { agentId } } })).issuer,
  });

export type Issuer = NonNullable<ReturnType<typeof useIssuer>['data']>;
export type ProviderSetup = Issuer['setups'][number];

const refresh = () => queryClient.invalidateQueries({ queryKey: ['issuer'] });

export const usePublishNextKey = () =>
  useMutation({ mutationFn: () => api.post('/v1/issuer/keys'), onSettled: refresh });

export const useActivateKey = () =>
  useMutation({
    mutationFn: (id: string) => api.post('/v1/issuer/keys/{id}/activate', { params: { path: { id } } }),
    onSettled: refresh,
  });

export const useSetManualRotation = () =>
  useMutation({
    mutationFn: (manualRotation: boolean) => api.patch('/v1/issuer', { body: { manualRotation } }),
    onSettled: refresh,
  });
