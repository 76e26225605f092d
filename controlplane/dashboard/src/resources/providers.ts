/** Built-in and custom providers, and their names. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api-client.js';

const LIST_LIMIT = 100;

export const useProviders = () =>
  useQuery({
    queryKey: ['custom-providers', 'all'],
    queryFn: async () =>
      (await api.get('/v1/custom-providers', { params: { query: { limit: LIST_LIMIT } } })).providers,
    staleTime: 60_000,
  });

/** Returns a function from a provider's slug to its name. */
export function useProviderName(): (slug: string) => string {
  const providers = useProviders();
  return (slug) => providers.data?.find((provider) => provider.slug === slug)?.displayName ?? slug;
}
