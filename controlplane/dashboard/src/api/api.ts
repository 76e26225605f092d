/** The one client of the management API; the session is a cookie that no script can read. */
import { createClient } from '@acg/client/client';
import { BASE_PATH } from './page-facts.js';
import { sameWriteOnce } from './same-write.js';

/** What has no answer until then got lost on the way: nobody waits for it longer. */
const ANSWER_MS = 60_000;

let reads = new AbortController();
const inTime = (request: Request, ...signals: AbortSignal[]): Promise<Response> =>
  fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(ANSWER_MS), ...signals]) });
const write = sameWriteOnce((request) => inTime(request));

export const api = createClient({
  baseUrl: BASE_PATH,
  fetch: (request) => (request.method === 'GET' ? inTime(request, reads.signal) : write(request)),
});

/** Ends every read that waits for its answer; those that come fail at once, with `AbortError`, until {@link startReads}. */
export const stopReads = (): void => reads.abort();

export function startReads(): void {
  reads = new AbortController();
}
