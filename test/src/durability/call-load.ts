/**
 * Sends calls through the proxy, some of them streamed, until a fixed number has succeeded. A failed call is replaced
 * after a pause, so that a dead or slowly starting server does not use up the load.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';

interface CallLoadOptions {
  /** Origin of the data plane. */
  readonly url: string;
  readonly token: string;
  /** Number of responses that must be received to the last byte. */
  readonly calls: number;
  readonly concurrency: number;
}

export interface CallLoad {
  /** May change while the load runs: later calls go to the new origin. */
  url: string;
  /** Request ids of the responses that were received to the last byte. */
  readonly received: readonly string[];
  readonly done: Promise<void>;
  counts(): { received: number; failed: number };
  /** Resolves when this many responses were received. */
  reached(calls: number): Promise<void>;
}

/** Pause after a failure, so that a dead server is not retried in a tight loop. */
const PAUSE_AFTER_FAILURE_MS = 200;

export function startCallLoad({ url, token, calls, concurrency }: CallLoadOptions): CallLoad {
  const agent = new Agent({ keepAlive: true });
  const received: string[] = [];
  const waiting: { calls: number; resolve: () => void }[] = [];
  let started = 0;
  let inFlight = 0;
  let failed = 0;
  const ended = (): void => {
    for (const waiter of waiting.splice(0)) {
      if (received.length >= waiter.calls) waiter.resolve();
      else waiting.push(waiter);
    }
  };
  const lane = async (): Promise<void> => {
    while (received.length < calls) {
      if (received.length + inFlight >= calls) return; // calls in flight may still fail: their own lanes replace them
      inFlight++;
      const id = await sendCall(agent, load.url, token, started++).catch(() => null);
      inFlight--;
      if (id === null) {
        failed++;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_AFTER_FAILURE_MS));
      } else received.push(id);
      ended();
    }
  };
  const load: CallLoad = {
    url,
    received,
    done: Promise.resolve(),
    counts: () => ({ received: received.length, failed }),
    reached: (target) =>
      new Promise((resolve) => {
        waiting.push({ calls: target, resolve });
        ended();
      }),
  };
  const lanes = Array.from({ length: concurrency }, lane);
  return Object.assign(load, { done: Promise.all(lanes).then(() => agent.destroy()) });
}

/** Returns the request id of a completely received 200; rejects otherwise. */
async function sendCall(agent: Agent, url: string, token: string, n: number): Promise<string> {
  const call = request(`${url}/v1/proxy/openai/v1/chat/completions`, {
    agent,
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  });
  const answered = once(call, 'response') as Promise<[IncomingMessage]>;
  call.end(
    JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: `call ${n}` }], stream: n % 3 === 0 }),
  );
  const [response] = await answered;
  for await (const _chunk of response); // throws when the connection breaks before the end
  if (response.statusCode !== 200 || !response.complete) throw new Error(`status ${response.statusCode}`);
  return String(response.headers['x-gateway-request-id']);
}
