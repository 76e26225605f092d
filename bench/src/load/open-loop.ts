/**
 * Open-loop load: requests are due at fixed times, independent of the responses. Latency counts from the due time, so a
 * stalled proxy cannot hide its own queue. The result includes the lateness of the generator itself.
 */
import { Worker } from 'node:worker_threads';
import { KeepAliveConnection, postRequest } from './keep-alive-connection.js';
import type { Pace } from './pacer-thread.js';

interface OpenLoopOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
  readonly seconds: number;
}

export interface OpenLoopResult {
  /** µs from due time to the last byte, one per response. */
  readonly latenciesUs: readonly number[];
  /** µs from due time to the write, one per request; part of the latency above. */
  readonly lagsUs: readonly number[];
  /** From the responses' `server-timing`, µs: in the gateway before the upstream call, and in that call. */
  readonly stagesUs: readonly (readonly [gateway: number, upstream: number])[];
  readonly errors: number;
}

/** Opened before the first call is due. */
const FIRST_CONNECTIONS = 64;
const CONNECTIONS_MAX = 256;
/**
 * Concurrent opens during the run, while calls wait for any free connection. A TLS handshake costs this process more
 * than the time until the next call. With one handshake per waiting call, a short stall never ended and calls went
 * missing.
 */
const OPENING_MAX = 2;
/** More calls than this, in flight or waiting, count as errors: the target does not keep up. */
const CALLS_MAX = 1_024;
const LEAD_US = 200_000;
const TIMING = /server-timing: gateway;dur=([\d.]{1,12}), upstream;dur=([\d.]{1,12})/;

export async function runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult> {
  const pool = new ConnectionPool(new URL(options.url).origin);
  await pool.opened;
  const request = postRequest(options.url, options.headers, options.body);
  const latenciesUs: number[] = [];
  const lagsUs: number[] = [];
  const stagesUs: [number, number][] = [];
  let errors = 0;
  let sent = 0;
  let finished = 0;
  const intervalUs = 1_000_000 / options.perSecond;
  const total = options.perSecond * options.seconds;
  const pace: Pace = { startUs: nowUs() + LEAD_US, intervalUs, total };
  const pacer = new Worker(new URL('./pacer-thread.js', import.meta.url), { workerData: pace });
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      if (++finished < total) return;
      pool.close();
      resolve({ latenciesUs, lagsUs, stagesUs, errors });
    };
    const sendOn = (connection: KeepAliveConnection, dueUs: number): void => {
      lagsUs.push(nowUs() - dueUs);
      connection.send(request, (status, head) => {
        if (status === 200) latenciesUs.push(nowUs() - dueUs);
        else errors++;
        const timing = TIMING.exec(head);
        if (timing !== null) stagesUs.push([1_000 * Number(timing[1]), 1_000 * Number(timing[2])]);
        pool.give(connection);
        finish();
      });
    };
    const send = (dueUs: number): void => {
      if (sent - finished > CALLS_MAX) {
        errors++;
        finish();
      } else pool.take((connection) => sendOn(connection, dueUs));
    };
    pacer.on('error', reject);
    pacer.on('message', (due: number) => {
      while (sent < due) send(pace.startUs + sent++ * intervalUs);
    });
  });
}

/** Free connections in LIFO order. A call without a free one waits for the next. */
class ConnectionPool {
  readonly #origin: string;
  readonly #idle: KeepAliveConnection[];
  readonly #waiting: ((connection: KeepAliveConnection) => void)[] = [];
  #open = FIRST_CONNECTIONS;
  #opening = 0;
  readonly opened: Promise<unknown>;

  constructor(origin: string) {
    this.#origin = origin;
    this.#idle = Array.from({ length: FIRST_CONNECTIONS }, () => new KeepAliveConnection(origin));
    this.opened = Promise.all(this.#idle.map((connection) => connection.opened));
  }

  take(use: (connection: KeepAliveConnection) => void): void {
    const free = this.#idle.pop();
    if (free !== undefined) {
      use(free);
      return;
    }
    this.#waiting.push(use);
    this.#openMore();
  }

  give(connection: KeepAliveConnection): void {
    if (connection.broken) {
      this.#open--;
      if (this.#waiting.length > 0) this.#openMore();
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next(connection);
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
  }

  #openMore(): void {
    if (this.#opening >= OPENING_MAX || this.#open >= CONNECTIONS_MAX) return;
    this.#open++;
    this.#opening++;
    const connection = new KeepAliveConnection(this.#origin);
    void connection.opened.then(() => {
      this.#opening--;
      const next = this.#waiting.shift();
      if (next === undefined) this.give(connection);
      else next(connection); // a broken connection reports it
      if (this.#waiting.length > 0) this.#openMore();
    });
  }
}

const nowUs = (): number => Number(process.hrtime.bigint()) / 1_000;
