/**
 * Open-loop load: requests are due at fixed times whatever the answers do, and latency counts from the due time, so a
 * stalled proxy cannot hide its own queue. How late the generator itself was is in the result.
 */
import { Worker } from 'node:worker_threads';
import { KeepAliveConnection, postRequest } from './keep-alive-connection.js';
import type { Pace } from './pacer.js';

interface OpenLoopOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** µs from due time to the last byte, one per answered request. */
  readonly latenciesUs: readonly number[];
  /** µs from due time to the write, one per request; part of the latency above. */
  readonly lagsUs: readonly number[];
  /** What the answers' `server-timing` says, µs: in the gateway before the upstream call, and in that call. */
  readonly stagesUs: readonly (readonly [gateway: number, upstream: number])[];
  readonly errors: number;
}

const FIRST_CONNECTIONS = 16;
/** More calls than this under way at once count as errors: the target does not keep up. */
const CONNECTIONS_MAX = 1_024;
const LEAD_US = 200_000;
const TIMING = /server-timing: gateway;dur=([\d.]{1,12}), upstream;dur=([\d.]{1,12})/;

export function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const { origin } = new URL(options.url);
  const request = postRequest(options.url, options.headers, options.body);
  const latenciesUs: number[] = [];
  const lagsUs: number[] = [];
  const stagesUs: [number, number][] = [];
  const idle = Array.from({ length: FIRST_CONNECTIONS }, () => new KeepAliveConnection(origin));
  let errors = 0;
  let sent = 0;
  let finished = 0;
  const intervalUs = 1_000_000 / options.perSecond;
  const total = options.perSecond * options.seconds;
  const pace: Pace = { startUs: nowUs() + LEAD_US, intervalUs, total };
  const pacer = new Worker(new URL('./pacer.js', import.meta.url), { workerData: pace });
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      if (++finished < total) return;
      for (const connection of idle) connection.close();
      resolve({ latenciesUs, lagsUs, stagesUs, errors });
    };
    const send = (dueUs: number): void => {
      if (sent - finished > CONNECTIONS_MAX) {
        errors++;
        finish();
        return;
      }
      const connection = idle.pop() ?? new KeepAliveConnection(origin);
      lagsUs.push(nowUs() - dueUs);
      connection.send(request, (status, head) => {
        if (status === 200) latenciesUs.push(nowUs() - dueUs);
        else errors++;
        const timing = TIMING.exec(head);
        if (timing !== null) stagesUs.push([1_000 * Number(timing[1]), 1_000 * Number(timing[2])]);
        if (!connection.broken) idle.push(connection);
        finish();
      });
    };
    pacer.on('error', reject);
    pacer.on('message', (due: number) => {
      while (sent < due) send(pace.startUs + sent++ * intervalUs);
    });
  });
}

const nowUs = (): number => Number(process.hrtime.bigint()) / 1_000;
