/** The one client of the management API; the session is a cookie that no script can read. */
import { createClient } from '@acg/client/management-api-client';
import { deduplicateWrites } from './deduplicate-writes.js';
import { BASE_PATH } from './page-meta-tags.js';

/** What has no answer until then got lost on the way: nobody waits for it longer. */
const REQUEST_TIMEOUT_MS = 60_000;

let readsAbort = new AbortController();
const fetchWithTimeout = (request: Request, ...signals: AbortSignal[]): Promise<Response> =>
  fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS), ...signals]) });
const sendWrite = deduplicateWrites((request) => fetchWithTimeout(request));

export const api = createClient({
  baseUrl: BASE_PATH,
  fetch: (request) => (request.method === 'GET' ? fetchWithTimeout(request, readsAbort.signal) : sendWrite(request)),
});

/** Ends every read that waits for its answer; those that come fail at once, with `AbortError`, until {@link allowReads}. */
export const abortReads = (): void => readsAbort.abort();

export function allowReads(): void {
  readsAbort = new AbortController();
}
