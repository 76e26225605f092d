/** The one client of the management API; the session is a cookie that no script can read. */
import { createClient } from '@acg/client/client';
import { BASE_PATH } from './page-facts.js';
import { sameWriteOnce } from './same-write.js';

let reads = new AbortController();
const write = sameWriteOnce((request) => fetch(request));

export const api = createClient({
  baseUrl: BASE_PATH,
  fetch: (request) =>
    request.method === 'GET'
      ? fetch(request, { signal: AbortSignal.any([request.signal, reads.signal]) })
      : write(request),
});

/** Ends every read that waits for its answer; those that come fail at once, with `AbortError`, until {@link startReads}. */
export const stopReads = (): void => reads.abort();

export function startReads(): void {
  reads = new AbortController();
}
