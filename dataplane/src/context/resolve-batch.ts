/**
 * Puts together the tokens of one turn of the event loop that the cache does not know: one call to the control plane,
 * which asks the database once. So a start with an empty cache, or a flood of made-up tokens, costs calls by the turn
 * and not by the token. Where calls take longer than a turn, what comes meanwhile waits for the next one.
 */
import type { Resolution } from './context-cache.js';

export interface TokenQuery {
  /** Lower case hex. */
  readonly tokenHash: string;
  readonly agentRef: string;
}

/** One answer for each query, in order; an error stands for that query alone. */
type AskBatch = (queries: readonly TokenQuery[]) => Promise<readonly (Resolution | Error)[]>;

interface Waiting {
  readonly query: TokenQuery;
  readonly resolve: (resolution: Resolution) => void;
  readonly reject: (error: Error) => void;
}

/** Beyond it a turn's tokens go in several calls. */
export const BATCH_MAX = 256;
/** The control plane has a few connections for these; more calls would only wait there. */
const CALLS_MAX = 4;

export class ResolveBatch {
  readonly #ask: AskBatch;
  #waiting: Waiting[] = [];
  #scheduled = false;
  #calls = 0;

  constructor(ask: AskBatch) {
    this.#ask = ask;
  }

  resolve(query: TokenQuery): Promise<Resolution> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ query, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || this.#calls >= CALLS_MAX) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting.length > 0 && this.#calls < CALLS_MAX) void this.#send(this.#waiting.splice(0, BATCH_MAX));
    });
  }

  /** Never rejects. */
  async #send(batch: readonly Waiting[]): Promise<void> {
    this.#calls++;
    try {
      const answers = await this.#ask(batch.map(({ query }) => query));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const answer = answers[i] ?? new Error('the control plane left a token unanswered');
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    } finally {
      this.#calls--;
      this.#schedule();
    }
  }
}
