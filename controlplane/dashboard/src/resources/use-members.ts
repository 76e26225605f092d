/** Members of the organization, to name a person by the user id. */

import { api } from '../api/api-client.js';
import { useQuery } from '../api/use-query.js';

const LIST_LIMIT = 100;

/** The first {@link LIST_LIMIT} members; callers show the others without a name. */
export const useMembers = () =>
  useQuery({
    queryKey: ['members', 'all'],
    queryFn: async () => (await api.get('/v1/members', { params: { query: { limit: LIST_LIMIT } } })).members,
    staleTime: 60_000,
  });
