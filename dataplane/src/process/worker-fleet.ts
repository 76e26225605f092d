/**
 * Runs DATAPLANE_WORKERS processes that share the agents' port (SO_REUSEPORT) and aggregates their metrics. A worker
 * that dies is replaced; only its own connections are lost, and its spool is adopted.
 *
 * Some exit codes mean that a restart is unlikely to help: invalid configuration, an unusable spool, or a rejection by
 * the control plane or the system. During the start such an exit fails the start. Later it is retried like a crash,
 * because one worker's problem (a half-written certificate file, a control plane of another version) must not stop the
 * workers that serve. When every worker has exited this way, the fleet ends with that code.
 */

import { createServer } from 'node:net';
import { Backoff } from '@acg/base/backoff';
import type { Logger } from '@acg/base/log';
import { noop } from '@acg/base/noop';
import { AggregatorRegistry } from 'prom-client';
import { EXIT } from './exit-codes.js';
import { type MessageFromWorker, type WorkerExit, WorkerProcess } from './fork-worker-process.js';

/** Marks a process as a worker: `index:port`. */
export const WORKER_ENV_VARIABLE = 'ACG_DATAPLANE_WORKER';

const METRICS_TIMEOUT_MS = 2_000;
/**
 * A worker that lived this long, ms, is stable: its successor starts without delay, and its unrecoverable exits no
 * longer count.
 */
const STABLE_MS = 10_000;
/** A worker drains within the drain time. One that has not exited this much later, ms, is killed. */
const KILL_AFTER_DRAIN_MS = 3_000;
const UNRECOVERABLE_EXIT_CODES: ReadonlySet<number | null> = new Set([EXIT.config, EXIT.directory, EXIT.unavailable]);

/** A worker could not start. `exitCode` is the code with which the fleet should end. */
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
  /** By index: the last worker exited as unrecoverable, and none was stable since. */
  readonly #isUnrecoverable: boolean[];
  readonly #pendingMetrics = new Map<number, (metrics: readonly object[]) => void>();
  #metricsRequestId = 0;
  /** 0: any free port, until the first worker has found one. */
  #port: number;
  #stopping = false;
  #checkTimer: NodeJS.Timeout | null = null;

  /** `onUnrecoverable`: every worker has exited as unrecoverable; the fleet should end with this code. */
  constructor(
    script: string,
    environment: NodeJS.ProcessEnv,
    config: FleetConfig,
    log: Logger,
    onUnrecoverable: (exitCode: number, message: string) => void,
  ) {
    this.#script = script;
    this.#environment = environment;
    this.#host = config.host;
    this.#stopTimeoutMs = config.drainTimeoutMs + KILL_AFTER_DRAIN_MS;
    this.#log = log;
    this.#onUnrecoverable = onUnrecoverable;
    this.#port = config.port;
    this.#workers = Array.from({ length: config.workers }, () => null);
    this.#backoffs = Array.from({ length: config.workers }, () => new Backoff(100, 10_000));
    this.#isUnrecoverable = Array.from({ length: config.workers }, () => false);
  }

  /** Resolves with the port when every worker listens. Rejects with {@link WorkerExited} when one cannot start. */
  async start(): Promise<number> {
    let nextIndex = 0;
    // The first worker finds a free port by itself: another process could take a port between probing and listening.
    if (this.#port === 0) await this.#startWorker(nextIndex++);
    else await assertPortFree(this.#host, this.#port);
    await Promise.all(this.#workers.slice(nextIndex).map((_, index) => this.#startWorker(nextIndex + index)));
    this.#checkTimer = setInterval(() => void this.#collectMetrics(), METRICS_TIMEOUT_MS).unref();
    await this.#collectMetrics();
    return this.#port;
  }

  /** Resolves when every worker has exited: drained, or killed after the drain time. */
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

  /** Null: ready, which one ready worker is enough for, because connections go only to workers that listen. */
  notReadyReason(): string | null {
    if (this.#stopping) return 'draining';
    const listening = this.#workers.filter((worker) => worker?.isListening === true);
    if (listening.length === 0) return 'no worker is running';
    return listening.some((worker) => worker!.notReadyReason === null) ? null : listening[0]!.notReadyReason;
  }

  /** Resolves when the worker listens; rejects when it exits before. */
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
    // A worker that never listened during the start is reported by `start`.
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
      if (!this.#stopping) this.#startWorker(index).catch(noop); // its exit is handled by `#onWorkerExit`
    }, delayMs);
  }

  #areAllUnrecoverable(): boolean {
    return this.#workers.every(
      (worker, index) => this.#isUnrecoverable[index] && (worker === null || !isStable(worker)),
    );
  }

  /** Requests metrics of every listening worker; a worker that does not respond in time is left out. */
  async #collectMetrics(): Promise<(readonly object[])[]> {
    const listening = this.#workers.filter((worker) => worker?.isListening === true);
    const answers = await Promise.all(listening.map((worker) => this.#requestMetrics(worker!)));
    return answers.filter((answer) => answer !== null);
  }

  #requestMetrics(worker: WorkerProcess): Promise<readonly object[] | null> {
    const id = ++this.#metricsRequestId;
    return new Promise((resolve) => {
      const finish = (metrics: readonly object[] | null): void => {
        clearTimeout(timer);
        this.#pendingMetrics.delete(id);
        resolve(metrics);
      };
      const timer = setTimeout(() => finish(null), METRICS_TIMEOUT_MS);
      this.#pendingMetrics.set(id, finish);
      worker.send({ kind: 'metrics', id }, () => finish(null));
    });
  }
}

/**
 * Rejects when another process has the port. Workers share the port without a check, so they would share it with a
 * foreign process, too.
 */
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
