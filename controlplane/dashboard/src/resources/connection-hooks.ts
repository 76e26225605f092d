/** Accounts and shared credentials that a person connects at the provider, and their present state. */
import { useMutation } from '@tanstack/react-query';
import { api } from '../api/api-client.js';
import { useQuery } from '../api/use-query.js';
import { invalidateAccounts } from './provider-account-mutations.js';
import { rotationRefetchInterval } from './rotation-refetch-interval.js';

export interface ConnectTarget {
  readonly kind: 'account' | 'credential';
  readonly id: string;
}

/** With an empty id no request is sent. */
export const useAccount = (id: string) =>
  useQuery({
    queryKey: ['accounts', 'one', id],
    queryFn: async () => (await api.get('/v1/providers/accounts/{id}', { params: { path: { id } } })).account,
    enabled: id !== '',
    refetchInterval: ({ state }) => rotationRefetchInterval(state.data),
  });

export type Minted = NonNullable<NonNullable<ReturnType<typeof useAccount>['data']>['minted']>;

/** Sends this browser to the provider. The answer sets a cookie that binds the connection to the browser. */
export const useConnect = ({ kind, id }: ConnectTarget) =>
  useMutation({
    mutationFn: () => {
      const params = { path: { id } };
      return kind === 'account'
        ? api.post('/v1/providers/accounts/{id}/connect', { params })
        : api.post('/v1/credentials/{id}/connect', { params });
    },
    onSuccess: ({ url }) => location.assign(url),
  });

export const useDisconnect = ({ kind, id }: ConnectTarget) =>
  useMutation({
    mutationFn: () => {
      const params = { path: { id } };
      return kind === 'account'
        ? api.post('/v1/providers/accounts/{id}/disconnect', { params })
        : api.post('/v1/credentials/{id}/disconnect', { params });
    },
    onSuccess: invalidateAccounts,
  });
