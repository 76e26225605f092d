/** The cache of API responses, and the handling of failures that concern the whole page. */
import { ApiError, UnreachableError } from '@acg/client/api-errors';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { getOutage, setOutage } from './api-reachability.js';

const STALE_MS = 10_000;
const RETRIES_MAX = 2;
/** Cache key of the signed-in user; the value null means signed out. */
export const ME_QUERY_KEY = ['me'] as const;
export const CONFIG_QUERY_KEY = ['config'] as const;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleFailure, onSuccess: (_, { queryKey }) => handleSuccess(queryKey) }),
  mutationCache: new MutationCache({
    onError: handleMutationFailure,
    onSuccess: () => handleSuccess(),
    onMutate: restoreFocusWhenEnabled,
  }),
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: shouldRetry, refetchOnWindowFocus: true },
  },
});

function handleFailure(error: Error): void {
  if (error instanceof UnreachableError)
    setOutage(isTimeout(error) ? 'timeout' : navigator.onLine ? 'unreachable' : 'offline');
  else if (isDatabaseAway(error)) setOutage('database');
  else handleSuccess();
  // The session ended: signed out here or elsewhere, or expired. The app shows the sign-in page.
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(ME_QUERY_KEY, null);
}

/**
 * When the outcome of a write is unknown, refetches all queries, because the user is asked to check the current state.
 */
function handleMutationFailure(error: Error): void {
  handleFailure(error);
  if (isOutcomeUnknown(error))
    void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME_QUERY_KEY[0] });
}

/** Refetches the queries that failed while the API did not respond. */
function handleSuccess(queryKey: readonly unknown[] = []): void {
  // The configuration does not come from the database.
  if (getOutage()?.cause === 'database' && queryKey[0] === CONFIG_QUERY_KEY[0]) return;
  if (!setOutage(null)) return;
  const failed = { type: 'active', fetchStatus: 'idle', predicate: isFailedQuery } as const;
  void queryClient.refetchQueries(failed);
}

const isDatabaseAway = (error: Error): boolean =>
  error instanceof ApiError && error.status === 503 && error.error.startsWith('the database is unavailable');

const isFailedQuery = ({ state }: { readonly state: { readonly status: string } }): boolean => state.status === 'error';

/** Retries no response that the server has decided. */
function shouldRetry(failures: number, error: Error): boolean {
  if (failures >= RETRIES_MAX || isTimeout(error)) return false;
  return isOutcomeUnknown(error);
}

/** The server has not decided the request, or its response was lost. */
const isOutcomeUnknown = (error: Error): boolean =>
  error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);

/** The request timed out. */
const isTimeout = ({ cause }: Error): boolean => cause instanceof Error && cause.name === 'TimeoutError';

/**
 * Restores the focus of a button that was disabled while its request was pending. Disabling a focused button moves the
 * focus to the page's start, which loses a keyboard user's position; the second press of a double click then moves it
 * to the dialog around the button. Does nothing if the focus has moved elsewhere.
 */
function restoreFocusWhenEnabled(): void {
  const button = document.activeElement;
  if (!(button instanceof HTMLButtonElement)) return;
  const observer = new MutationObserver(() => {
    if (button.disabled) return;
    observer.disconnect();
    if (document.activeElement?.contains(button) === true) button.focus({ preventScroll: true });
  });
  observer.observe(button, { attributes: true, attributeFilter: ['disabled'] });
}
