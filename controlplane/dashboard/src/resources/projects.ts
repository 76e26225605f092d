/** Projects of the organization. */
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/api-client.js';

const LIST_LIMIT = 100;

export const useProjects = () =>
  useQuery({
    queryKey: ['projects', 'all'],
    queryFn: async () => (await api.get('/v1/projects', { params: { query: { limit: LIST_LIMIT } } })).projects,
    staleTime: 60_000,
  });
