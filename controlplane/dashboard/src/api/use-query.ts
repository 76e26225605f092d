/** Queries whose first request leaves when a view begins to render: most views take 20 to 50 ms until they are mounted. */
import { useQuery as useMountedQuery, useQueryClient } from '@tanstack/react-query';

/** TanStack Query's `useQuery`, which itself sends the request after the view is mounted. The cache joins both. */
export const useQuery = ((options: Parameters<typeof useMountedQuery>[0]) => {
  const client = useQueryClient();
  if (options.enabled !== false && client.getQueryState(options.queryKey) === undefined)
    void client.prefetchQuery(options);
  return useMountedQuery(options);
}) as typeof useMountedQuery;
