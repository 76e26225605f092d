/**
 * Keeps DATAPLANE_WORKERS processes alive that share the agents' port (SO_REUSEPORT). A worker that dies is replaced;
 * its connections are lost, the others' are not, and its spool is adopted. Metrics of all are put together here.
 *
 * Some ends say that another start will hardly help: the configuration is bad, the spool cannot be used, or the control
 * plane or the system refuses. At the start such an end fails the start. Later, one worker's refusal (a certificate file
 * caught half written, a control plane of another version) must not take down the workers that serve: it is tried again
 * like a crash. When every worker has ended so, the fleet ends with that code, and whoever started it hears why.
 */

import { createServer } from 'node:net';
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import { AggregatorRegistry } from 'prom-client';
import { EXIT } from './exit-codes.js';
import { type MessageFromWorker, type WorkerExit, WorkerProcess } from './worker-process.js';

/** Names a process as a worker: `index:port`. */
export const WORKER_ENV_VARIABLE = 'ACG_DATAPLANE_WORKER';

const METRICS_TIMEOUT_MS = 2_000;
/** A worker that lived this long was well: it starts its successor without delay, and its refusals are forgotten. */
const STABLE_MS = 10_000;
/** A worker drains within the drain time; one that is not gone this much later never will be. */
const KILL_AFTER_DRAIN_MS = 3_000;
const UNRECOVERABLE_EXIT_CODES: ReadonlySet<number | null> = new Set([EXIT.config, EXIT.directory, EXIT.unavailable]);

/** A worker could not start. */
export class WorkerExited extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

interface FleetConfig {
  readonly host: string;
  readonly port: number;
  readonly workers: number;
  readonly drainTimeoutMs: number;
}

export class WorkerFleet {
  readonly #script: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #host: string;
  readonly #stopTimeoutMs: number;
  readonly #log: Logger;
  readonly #onUnrecoverable: (exitCode: number, message: string) => void;
  readonly #workers: (WorkerProcess | null)[];
  readonly #backoffs: Backoff[];
  /** Of each place: its last worker refused to run, and none was well since. */
  readonly #isUnrecoverable: boolean[];
  readonly #pendingMetrics = new Map<number, (metrics: readonly object[]) => void>();
  #metricsRequestId = 0;
  /** 0: any free one, until the first worker has found it. */
  #port: number;
  #stopping = false;
  #checkTimer: NodeJS.Timeout | null = null;

  /** `onRefused`: no worker is willing to run any more; the fleet should end with this code. */
  constructor(
    script: string,
    environment: NodeJS.ProcessEnv,
    config: FleetConfig,
    log: Logger,
    onRefused: (exitCode: number, message: string) => void,
  ) {
    this.#script = script;
    this.#environment = environment;
    this.#host = config.host;
    this.#stopTimeoutMs = config.drainTimeoutMs + KILL_AFTER_DRAIN_MS;
    this.#log = log;
    this.#onUnrecoverable = onRefused;
    this.#port = config.port;
    this.#workers = Array.from({ length: config.workers }, () => null);
    this.#backoffs = Array.from({ length: config.workers }, () => new Backoff(100, 10_000));
    this.#isUnrecoverable = Array.from({ length: config.workers }, () => false);
  }

  /** Resolves with the port when every worker listens. Rejects with `WorkerEnded` when one cannot start. */
  async start(): Promise<number> {
    let next = 0;
    // Of a port that is found free and let go again, somebody else can have it before the first worker listens.
    if (this.#port === 0) await this.#startWorker(next++);
    else await assertPortFree(this.#host, this.#port);
    await Promise.all(this.#workers.slice(next).map((_, index) => this.#startWorker(next + index)));
    this.#checkTimer = setInterval(() => void this.#collectMetrics(), METRICS_TIMEOUT_MS).unref();
    await this.#collectMetrics();
    return this.#port;
  }

  /** Resolves when every worker is gone: drained, or killed when it took longer than the drain time allows. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#checkTimer !== null) clearInterval(this.#checkTimer);
    const workers = this.#workers.filter((worker) => worker !== null);
    for (const worker of workers) worker.kill('SIGTERM');
    const killTimer = setTimeout(() => {
      for (const worker of this.#workers) {
        if (worker === null) continue;
        this.#log.error({ worker: worker.index }, 'a worker did not end in time: killing it');
        worker.kill('SIGKILL');
      }
    }, this.#stopTimeoutMs);
    await Promise.all(workers.map((worker) => worker.exited));
    clearTimeout(killTimer);
  }

  async metrics(): Promise<string> {
    const all = (await this.#collectMetrics()).map((metrics) => [...metrics]);
    return AggregatorRegistry.aggregate(all as never).metrics();
  }

  /** Ready while at least one worker is: connections go only to those that listen. */
  notReadyReason(): string | null {
    if (this.#stopping) return 'draining';
    const listening = this.#workers.filter((worker) => worker?.isListening === true);
    if (listening.length === 0) return 'no worker is running';
    return listening.some((worker) => worker!.notReadyReason === null) ? null : listening[0]!.notReadyReason;
  }

  /** Resolves when the worker listens; rejects when it ends before. */
  #startWorker(index: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const environment = { ...this.#environment, [WORKER_ENV_VARIABLE]: `${index}:${this.#port}` };
      const onMessage = (worker: WorkerProcess, message: MessageFromWorker): void => {
        if (message.kind === 'listening') {
          worker.isListening = true;
          this.#port = message.port;
          resolve();
          return;
        }
        worker.notReadyReason = message.notReady;
        this.#pendingMetrics.get(message.id)?.(message.metrics);
      };
      this.#workers[index] = new WorkerProcess(index, this.#script, environment, onMessage, (worker, end) => {
        reject(
          new WorkerExited(
            UNRECOVERABLE_EXIT_CODES.has(end.code) ? end.code! : EXIT.unavailable,
            describeExit(index, end),
          ),
        );
        this.#onWorkerExit(worker, end);
      });
    });
  }

  #onWorkerExit(worker: WorkerProcess, end: WorkerExit): void {
    const { index } = worker;
    this.#workers[index] = null;
    // One that never listened at the start is reported by `start`.
    if (this.#stopping || (this.#checkTimer === null && !worker.isListening)) return;
    this.#isUnrecoverable[index] = UNRECOVERABLE_EXIT_CODES.has(end.code);
    if (this.#isUnrecoverable[index] && this.#areAllUnrecoverable()) {
      this.#stopping = true;
      this.#onUnrecoverable(end.code!, describeExit(index, end));
      return;
    }
    const backoff = this.#backoffs[index]!;
    if (isStable(worker)) backoff.reset();
    const delayMs = backoff.nextDelayMs();
    this.#log.error({ worker: index, ...end, delayMs }, 'a worker ended: replacing it');
    setTimeout(() => {
      if (!this.#stopping) this.#startWorker(index).catch(noop); // its end was handled already
    }, delayMs);
  }

  #areAllUnrecoverable(): boolean {
    return this.#workers.every(
      (worker, index) => this.#isUnrecoverable[index] && (worker === null || !isStable(worker)),
    );
  }

  /** Asks every worker that listens; one that does not answer in time is left out. */
  async #collectMetrics(): Promise<(readonly object[])[]> {
    const asked = this.#workers.filter((worker) => worker?.isListening === true);
    const answers = await Promise.all(asked.map((worker) => this.#requestMetrics(worker!)));
    return answers.filter((answer) => answer !== null);
  }

  #requestMetrics(worker: WorkerProcess): Promise<readonly object[] | null> {
    const id = ++this.#metricsRequestId;
    return new Promise((resolve) => {
      const answer = (metrics: readonly object[] | null): void => {
        clearTimeout(timer);
        this.#pendingMetrics.delete(id);
        resolve(metrics);
      };
      const timer = setTimeout(() => answer(null), METRICS_TIMEOUT_MS);
      this.#pendingMetrics.set(id, answer);
      worker.send({ kind: 'figures', id }, () => answer(null));
    });
  }
}

/** Rejects when somebody has the port: workers share it without being asked, so they would also share it with a stranger. */
function assertPortFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}: stop the other process, or set DATAPLANE_PORT (DATAPLANE_HOST) to a free one`,
        ),
      ),
    );
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve()));
  });
}

const isStable = (worker: WorkerProcess): boolean => performance.now() - worker.startedAtPerfMs > STABLE_MS;

function describeExit(index: number, { code, signal, error }: WorkerExit): string {
  if (error !== null) return `worker ${index} cannot be started: ${error}`;
  return `worker ${index} ended with ${signal ?? `exit code ${code}`}`;
}
