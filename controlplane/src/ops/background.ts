/** Work that a request starts but does not wait for: bounded, logged when it fails, finished before the stop. */
import type { Logger } from '@acg/base/log';

const RUNNING_MAX = 1_000;

export class Background {
  readonly #running = new Set<Promise<void>>();

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

  /** Resolves when all that runs has ended. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
