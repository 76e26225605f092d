/** The client of the management API. The session is an HTTP-only cookie, which scripts cannot read. */
import { createClient } from '@acg/client/typed-api-client-throwing-errors';
import { trackWait } from './api-reachability.js';
import { confirmAndRetry } from './confirm-with-second-factor.js';
import { deduplicateWrites } from './deduplicate-writes.js';
import { BASE_PATH } from './page-meta-tags.js';

/** Aborts a request without a response after this time (ms); such a response is taken as lost. */
const REQUEST_TIMEOUT_MS = 60_000;

let readsAbort = new AbortController();
const fetchWithTimeout = (request: Request, ...signals: AbortSignal[]): Promise<Response> =>
  fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...signals]) });
const sendWrite = deduplicateWrites((request) => fetchWithTimeout(request));

export const api = createClient({
  baseUrl: BASE_PATH,
  fetch: (request) =>
    request.method === 'GET'
      ? trackWait(fetchWithTimeout(request, readsAbort.signal))
      : confirmAndRetry(request, sendWrite),
});

/** Aborts all pending reads. New reads fail at once with `AbortError` until {@link allowReads}. */
export const abortReads = (): void => readsAbort.abort();

export function allowReads(): void {
  readsAbort = new AbortController();
}
