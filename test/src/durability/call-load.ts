/**
 * A fixed number of calls through the proxy that arrive, some streamed. One that fails is replaced by another after a
 * moment, so that neither a dead server nor a slow start of it can use up the load.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';

interface CallLoadOptions {
  /** Origin of the data plane. */
  readonly url: string;
  readonly token: string;
  /** How many responses are to arrive to the last byte. */
  readonly calls: number;
  readonly concurrency: number;
}

export interface CallLoad {
  /** May change while the load runs: the next calls go there. */
  url: string;
  /** Request ids of the responses that arrived to the last byte. */
  readonly received: readonly string[];
  readonly done: Promise<void>;
  counts(): { received: number; failed: number };
  /** Resolves when so many responses have arrived. */
  reached(calls: number): Promise<void>;
}

/** After a failure: a dead server is not asked in a tight loop. */
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
      if (received.length + inFlight >= calls) return; // those under way may yet fail: their own lanes go on
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

/** The request id of a 200 whose body arrived completely; rejects otherwise. */
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
