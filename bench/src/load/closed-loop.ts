/**
 * Closed-loop load: each keep-alive connection sends its next request when its response is complete. A broken
 * connection counts as an error and is replaced. docs/decisions.md says why this is not autocannon.
 */
import { KeepAliveConnection, postRequest } from './keep-alive-connection.js';

interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Responses other than 2xx or 3xx, and socket errors. */
  readonly errors: number;
}

/** Sends the same POST for the given time. */
export function runClosedLoop({ url, connections, seconds, headers, body }: LoadOptions): Promise<LoadResult> {
  const request = postRequest(url, headers, body);
  const endMs = performance.now() + seconds * 1_000;
  return sendEach(new URL(url).origin, connections, () => (performance.now() < endMs ? request : null));
}

/** `next` returns the request of whichever connection is free; null ends the load. */
export async function sendEach(origin: string, connections: number, next: () => Buffer | null): Promise<LoadResult> {
  const startMs = performance.now();
  let requests = 0;
  let errors = 0;
  const lane = (): Promise<void> =>
    new Promise((resolve) => {
      let connection = new KeepAliveConnection(origin);
      const send = (): void => {
        const request = next();
        if (request === null) {
          connection.close();
          resolve();
          return;
        }
        connection.send(request, (status) => {
          requests++;
          if (status < 200 || status > 399) errors++;
          if (connection.broken) connection = new KeepAliveConnection(origin);
          // In a later tick: a target that rejects at once must not overflow the stack.
          if (status === 0) setImmediate(send);
          else send();
        });
      };
      send();
    });
  await Promise.all(Array.from({ length: connections }, lane));
  return { requests, perSecond: (1_000 * requests) / (performance.now() - startMs), errors };
}
