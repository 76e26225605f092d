/** A well-behaved tenant: one call every few milliseconds, independent of the load around it. */
import { request as httpRequest } from 'node:http';
import { percentile } from '../statistics.js';

interface NeighbourFigure {
  readonly calls: number;
  readonly errors: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
}

export interface Neighbour {
  readonly url: string;
  readonly token: string;
  /** Called alternately. */
  readonly paths?: readonly string[];
}

const CHAT = '/v1/proxy/openai/v1/chat/completions';
const EVERY_MS = 10;
const BODY = JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'Say hello' }] });

/** Calls a model at a fixed rate for the given time; each call is timed from its due time. */
export async function neighbourCalls(
  { url, token, paths = [CHAT] }: Neighbour,
  seconds: number,
): Promise<NeighbourFigure> {
  const took: number[] = [];
  let errors = 0;
  const calls: Promise<void>[] = [];
  const startTick = performance.now();
  for (let i = 0; i * EVERY_MS < seconds * 1_000; i++) {
    const dueTick = startTick + i * EVERY_MS;
    const waitMs = dueTick - performance.now();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
    calls.push(
      call(url, token, paths[i % paths.length]).then((status) => {
        if (status === 200) took.push(performance.now() - dueTick);
        else errors++;
      }),
    );
  }
  await Promise.all(calls);
  return { calls: calls.length, errors, p50Ms: percentile(took, 50), p95Ms: percentile(took, 95) };
}

/** 0: no response. `from`: the client IP of the call. */
export function call(url: string, token: string, path = CHAT, from?: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = path.startsWith('/v1/proxy') ? BODY : '';
    const options = {
      method: body === '' ? 'GET' : 'POST',
      headers,
      ...(from === undefined ? {} : { localAddress: from }),
    };
    const request = httpRequest(url + path, options, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode ?? 0));
    });
    request.once('error', () => resolve(0));
    request.end(body);
  });
}
