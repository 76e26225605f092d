/** The cache of answers, and what happens with failures that concern the whole page. */
import { ApiError, Unreachable } from '@acg/client/api-error';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { setReachable } from './connection.js';
import { keepFocus } from './keep-focus.js';

const STALE_MS = 10_000;
const RETRIES_MAX = 2;
/** Key of the signed-in user; null in the cache: nobody. */
export const ME = ['me'] as const;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure, onSuccess: noteAnswer }),
  mutationCache: new MutationCache({ onError: noteFailedChange, onSuccess: noteAnswer, onMutate: keepFocus }),
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: worthAnotherTry, refetchOnWindowFocus: true },
  },
});

function noteFailure(error: Error): void {
  if (error instanceof Unreachable) setReachable(false);
  else noteAnswer();
  // The session ended: here, elsewhere, or because it was too old. Whoever shows the page asks to sign in.
  if (error instanceof ApiError && error.status === 401) queryClient.setQueryData(ME, null);
}

/** Where it is not known whether something was changed, people are told to look: at what is so now. */
function noteFailedChange(error: Error): void {
  noteFailure(error);
  if (isUnknown(error)) void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== ME[0] });
}

/** What had failed while nothing answered is asked again, once something does. */
function noteAnswer(): void {
  if (!setReachable(true)) return;
  const failed = { type: 'active', fetchStatus: 'idle', predicate: isFailed } as const;
  void queryClient.refetchQueries(failed);
}

const isFailed = ({ state }: { readonly state: { readonly status: string } }): boolean => state.status === 'error';

/** Nothing that the server has decided changes by asking again at once. */
function worthAnotherTry(failures: number, error: Error): boolean {
  if (failures >= RETRIES_MAX || isLost(error)) return false;
  return isUnknown(error);
}

/** The server has not decided it, or has not said so. */
const isUnknown = (error: Error): boolean =>
  error instanceof Unreachable || (error instanceof ApiError && error.status >= 500);

/** Somebody has waited for it long enough. */
const isLost = ({ cause }: Error): boolean => cause instanceof Error && cause.name === 'TimeoutError';
