/** Scenario 7: a million requests; does memory grow with them? */
import type { GatewayStack } from '../gateway-stack.js';
import { runWrk } from '../load/wrk.js';
import { residentBytes } from '../process-usage.js';
import { slope } from '../statistics.js';
import { REQUEST_BODY } from './cpu-per-request.js';

export interface SoakFigure {
  readonly requests: number;
  readonly rssStartBytes: number;
  readonly rssEndBytes: number;
  /** Growth per million requests by least squares over the second half, bytes. */
  readonly slopeBytesPerMillion: number;
  readonly errors: number;
}

const ROUND_SECONDS = 5;

export async function soak(gateway: GatewayStack, requests: number, secondsMax: number): Promise<SoakFigure> {
  const points: (readonly [number, number])[] = [];
  let done = 0;
  let errors = 0;
  for (let elapsed = 0; done < requests && elapsed < secondsMax; elapsed += ROUND_SECONDS) {
    const load = await runWrk({
      url: `${gateway.url}/v1/proxy/openai/v1/chat/completions`,
      connections: 64,
      seconds: ROUND_SECONDS,
      headers: { Authorization: `Bearer ${gateway.token}` },
      body: REQUEST_BODY,
    });
    done += load.requests;
    errors += load.errors;
    points.push([done / 1_000_000, residentBytes(gateway.dataPlane.pid)]);
  }
  return {
    requests: done,
    rssStartBytes: points[0]![1],
    rssEndBytes: points.at(-1)![1],
    slopeBytesPerMillion: slope(points.slice(points.length >> 1)),
    errors,
  };
}
