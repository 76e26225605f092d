/**
 * Keeps DATAPLANE_WORKERS processes alive that share the agents' port (SO_REUSEPORT). A worker that dies is replaced;
 * its connections are lost, the others' are not, and its spool is adopted. Metrics of all are put together here.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { type AddressInfo, createServer } from 'node:net';
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { AggregatorRegistry } from 'prom-client';
import type { Config } from './config.js';

/** Names a process as a worker: `index:port`. */
export const WORKER_VARIABLE = 'ACG_DATAPLANE_WORKER';

export type ToWorker = { readonly kind: 'figures'; readonly id: number };
export type FromWorker =
  | { readonly kind: 'listening' }
  | {
      readonly kind: 'figures';
      readonly id: number;
      readonly metrics: readonly object[];
      readonly notReady: string | null;
    };

const FIGURES_TIMEOUT_MS = 2_000;
/** A worker that lived this long starts its successor without delay. */
const STABLE_MS = 10_000;

interface Worker {
  readonly index: number;
  readonly process: ChildProcess;
  readonly startedTick: number;
  listening: boolean;
  notReady: string | null;
}

export class WorkerFleet {
  readonly #script: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #host: string;
  readonly #log: Logger;
  readonly #workers: (Worker | null)[];
  readonly #backoffs: Backoff[];
  readonly #questions = new Map<number, (metrics: readonly object[]) => void>();
  #questionId = 0;
  #port: number;
  #stopping = false;
  #checkTimer: NodeJS.Timeout | null = null;

  constructor(script: string, environment: NodeJS.ProcessEnv, config: Config, log: Logger) {
    this.#script = script;
    this.#environment = environment;
    this.#host = config.host;
    this.#log = log;
    this.#port = config.port;
    this.#workers = Array.from({ length: config.workers }, () => null);
    this.#backoffs = Array.from({ length: config.workers }, () => new Backoff(100, 10_000));
  }

  /** Resolves with the port when every worker listens. Rejects when one cannot start. */
  async start(): Promise<number> {
    this.#port = await freePort(this.#host, this.#port);
    await Promise.all(this.#workers.map((_, index) => this.#launch(index)));
    this.#checkTimer = setInterval(() => void this.#figures(), FIGURES_TIMEOUT_MS).unref();
    await this.#figures();
    return this.#port;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#checkTimer !== null) clearInterval(this.#checkTimer);
    const ends = this.#workers.map((worker) => (worker === null ? null : ended(worker.process)));
    for (const worker of this.#workers) worker?.process.kill('SIGTERM');
    await Promise.all(ends);
  }

  async metrics(): Promise<string> {
    const all = (await this.#figures()).map((metrics) => [...metrics]);
    return AggregatorRegistry.aggregate(all as never).metrics();
  }

  /** Ready while at least one worker is: connections go only to those that listen. */
  notReady(): string | null {
    if (this.#stopping) return 'draining';
    const listening = this.#workers.filter((worker) => worker?.listening === true);
    if (listening.length === 0) return 'no worker is running';
    return listening.some((worker) => worker!.notReady === null) ? null : listening[0]!.notReady;
  }

  #launch(index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = fork(this.#script, [], {
        env: { ...this.#environment, [WORKER_VARIABLE]: `${index}:${this.#port}` },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      const worker: Worker = {
        index,
        process: child,
        startedTick: performance.now(),
        listening: false,
        notReady: 'starting',
      };
      this.#workers[index] = worker;
      child.on('message', (message: FromWorker) => {
        if (message.kind === 'listening') {
          worker.listening = true;
          resolve();
          return;
        }
        worker.notReady = message.notReady;
        this.#questions.get(message.id)?.(message.metrics);
      });
      child.once('exit', (code, signal) => {
        reject(new Error(`worker ${index} ended with ${signal ?? `exit code ${code}`}`));
        this.#onExit(worker, code, signal);
      });
    });
  }

  #onExit(worker: Worker, code: number | null, signal: string | null): void {
    this.#workers[worker.index] = null;
    // One that never listened at the start is reported by `start`.
    if (this.#stopping || this.#checkTimer === null) return;
    const backoff = this.#backoffs[worker.index]!;
    if (performance.now() - worker.startedTick > STABLE_MS) backoff.reset();
    const delayMs = backoff.nextMs();
    this.#log.error({ worker: worker.index, code, signal, delayMs }, 'a worker ended: replacing it');
    setTimeout(() => {
      if (!this.#stopping) this.#launch(worker.index).catch(ignore); // its exit was handled already
    }, delayMs);
  }

  /** Asks every worker that listens; one that does not answer in time is left out. */
  async #figures(): Promise<(readonly object[])[]> {
    const asked = this.#workers.filter((worker) => worker?.listening === true);
    const answers = await Promise.all(asked.map((worker) => this.#ask(worker!)));
    return answers.filter((answer) => answer !== null);
  }

  #ask(worker: Worker): Promise<readonly object[] | null> {
    const id = ++this.#questionId;
    return new Promise((resolve) => {
      const settle = (metrics: readonly object[] | null): void => {
        clearTimeout(timer);
        this.#questions.delete(id);
        resolve(metrics);
      };
      const timer = setTimeout(() => settle(null), FIGURES_TIMEOUT_MS);
      this.#questions.set(id, settle);
      const question: ToWorker = { kind: 'figures', id };
      worker.process.send(question, (error) => {
        if (error !== null) settle(null);
      });
    });
  }
}

/**
 * The port itself when nobody has it, or any free one for 0. Workers share the port without being asked, so they would
 * also share it with a stranger.
 */
function freePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}: stop the other process, or set DATAPLANE_PORT (DATAPLANE_HOST) to a free one`,
        ),
      ),
    );
    probe.listen({ host, port, exclusive: true }, () => {
      const found = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(found));
    });
  });
}

const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('exit', () => resolve()));
const ignore = (): void => {};
