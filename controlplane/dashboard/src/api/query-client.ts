/** The cache of answers, and what happens with failures that concern the whole page. */
import { ApiError, UnreachableError } from '@acg/client/api-errors';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { setReachable } from './api-reachability.js';
import { restoreFocusWhenEnabled } from './restore-button-focus.js';

const STALE_MS = 10_000;
const RETRIES_MAX = 2;
/** Key of the signed-in user; null in the cache: nobody. */
export const ME_QUERY_KEY = ['me'] as const;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleFailure, onSuccess: handleSuccess }),
  mutationCache: new MutationCache({
    onError: handleMutationFailure,
    onSuccess: handleSuccess,
    onMutate: restoreFocusWhenEnabled,
  }),
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: shouldRetry, refetchOnWindowFocus: true },
  },
});

function handleFailure(error: Error): void {
  if (error instanceof UnreachableError) setReachable(false);
  else handleSuccess();
  // The session ended: here, elsewhere, or because it was too old. Whoever shows the page asks to sign in.
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(ME_QUERY_KEY, null);
}

/** Where it is not known whether something was changed, people are told to look: at what is so now. */
function handleMutationFailure(error: Error): void {
  handleFailure(error);
  if (isOutcomeUnknown(error))
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME_QUERY_KEY[0] });
}

/** What had failed while nothing answered is asked again, once something does. */
function handleSuccess(): void {
  if (!setReachable(true)) return;
  const failed = { type: 'active', fetchStatus: 'idle', predicate: isFailedQuery } as const;
  void queryClient.refetchQueries(failed);
}

const isFailedQuery = ({ state }: { readonly state: { readonly status: string } }): boolean => state.status === 'error';

/** Nothing that the server has decided changes by asking again at once. */
function shouldRetry(failures: number, error: Error): boolean {
  if (failures >= RETRIES_MAX || isTimeout(error)) return false;
  return isOutcomeUnknown(error);
}

/** The server has not decided it, or has not said so. */
const isOutcomeUnknown = (error: Error): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);

/** Somebody has waited for it long enough. */
const isTimeout = ({ cause }: Error): boolean => cause instanceof Error && cause.name === 'TimeoutError';
