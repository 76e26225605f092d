/** Queries of the organization's provider accounts. */
import { keepPreviousData } from '@tanstack/react-query';
import { api } from '../../api/api-client.js';
import { useQuery } from '../../api/use-query.js';
import { providerLabel } from '../../messages/provider-labels.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';

export const ACCOUNT_SORTS = ['createdAt', 'agentName', 'providerSlug', 'lastUsedAt'] as const;

interface AccountQuery {
  readonly limit: number;
  readonly offset?: number;
  readonly projectId?: string;
  readonly providerSlug?: string;
  readonly status?: 'active' | 'needs_credentials';
  /** Only accounts that use this shared credential. */
  readonly credentialId?: string;
  readonly sort?: (typeof ACCOUNT_SORTS)[number];
  readonly order?: 'asc' | 'desc';
}

const fetchAccounts = (query: AccountQuery) => api.get('/v1/providers/accounts', { params: { query } });

export type Account = Awaited<ReturnType<typeof fetchAccounts>>['accounts'][number];

export const useAccountList = (query: AccountQuery) =>
  useQuery({
    queryKey: ['accounts', 'list', query],
    queryFn: () => fetchAccounts(query),
    placeholderData: keepPreviousData,
  });

/** Returns a function from a provider's slug to its name. */
export function useProviderName(): (slug: string) => string {
  const providers = useProviders();
  return (slug) => providers.data?.find((provider) => provider.slug === slug)?.displayName ?? providerLabel(slug);
}
