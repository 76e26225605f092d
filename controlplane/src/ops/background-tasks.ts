/**
 * Runs background work, once or periodically. The number of concurrent tasks is bounded, failures are logged, and
 * `stop` waits for running tasks.
 */
import type { Logger } from '@acg/base/log';

const RUNNING_MAX = 1_000;

/** State of one periodic work, for metrics. */
interface PeriodicWork {
  readonly intervalMs: number;
  /** Unix ms of its last successful end; at first, of its start. */
  lastSuccessMs: number;
  failures: number;
}

/** By name, of the whole process. */
const periodicWorks = new Map<string, PeriodicWork>();

export const listPeriodicWorks = (): ReadonlyMap<string, Readonly<PeriodicWork>> => periodicWorks;

export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(readonly log: Logger) {}

  /** Starts `work`. Returns false, without starting it, when too many tasks are running. */
  run(name: string, work: () => Promise<void>): boolean {
    if (this.#running.size >= RUNNING_MAX) {
      this.log.error({ work: name, running: this.#running.size }, 'background task rejected: too many are running');
      return false;
    }
    const running: Promise<void> = work()
      .catch((error: unknown) => this.log.error({ err: error, work: name }, 'background task failed'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return true;
  }

  /**
   * Runs `work` every `ms` milliseconds until {@link stop}. Runs of the same work never overlap: a tick is skipped
   * while one is running. Returns a function that runs it immediately, under the same rule.
   */
  runEvery(name: string, ms: number, work: () => Promise<unknown>): () => void {
    const state: PeriodicWork = { intervalMs: ms, lastSuccessMs: Date.now(), failures: 0 };
    periodicWorks.set(name, state);
    let busy = false;
    const turn = (): void => {
      if (busy) return;
      busy = true;
      const begun = this.run(name, async () => {
        try {
          await work();
          state.lastSuccessMs = Date.now();
        } catch (error) {
          state.failures++;
          throw error;
        } finally {
          busy = false;
        }
      });
      if (!begun) busy = false;
    };
    this.#timers.push(setInterval(turn, ms).unref());
    return turn;
  }

  /** Starts no further run; resolves when all running tasks have finished. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.waitUntilIdle();
  }

  /** Resolves when all running tasks have finished. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
