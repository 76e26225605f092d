/** Work that nobody waits for, once or again and again: bounded, logged when it fails, finished before the stop. */
import type { Logger } from '@acg/base/log';

const RUNNING_MAX = 1_000;

export class BackgroundTasks {
  readonly #running = new Set<Promise<void>>();
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(readonly log: Logger) {}

  /** False when too much is running already; the work is then not done. */
  run(name: string, work: () => Promise<void>): boolean {
    if (this.#running.size >= RUNNING_MAX) {
      this.log.error({ work: name, running: this.#running.size }, 'background work refused');
      return false;
    }
    const running: Promise<void> = work()
      .catch((error: unknown) => this.log.error({ err: error, work: name }, 'background work failed'))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
    return true;
  }

  /**
   * Runs `work` every `ms` until {@link stop}, never beside itself: while it still runs, a turn is left out. Returns what
   * runs it now, under the same rule.
   */
  runEvery(name: string, ms: number, work: () => Promise<unknown>): () => void {
    let busy = false;
    const turn = (): void => {
      if (busy) return;
      busy = true;
      const begun = this.run(name, async () => {
        try {
          await work();
        } finally {
          busy = false;
        }
      });
      if (!begun) busy = false;
    };
    this.#timers.push(setInterval(turn, ms).unref());
    return turn;
  }

  /** No turn begins any more; resolves when all that runs has ended. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.waitUntilIdle();
  }

  /** Resolves when all that runs has ended. */
  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
