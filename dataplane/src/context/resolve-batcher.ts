/**
 * Batches the tokens of one event-loop tick that the cache does not know into one call to the control plane, which
 * makes one database query. A start with an empty cache, or a flood of invented tokens, therefore costs calls per tick,
 * not per token. While {@link CALLS_MAX} calls are in flight, tokens queue in lanes, one for each client. The next call
 * takes one token of each lane in turn, so a client with thousands of tokens delays only itself. A full queue drops the
 * newest token of the longest lane. The size of an answer is bounded; tokens that it omits are sent again first.
 */
import { FairQueue } from '@acg/base/fairness/fair-queue';
import type { Resolution } from './context-cache.js';

export interface TokenQuery {
  /** Lower-case hex. */
  readonly tokenHash: string;
  readonly agentRef: string;
}

/** Returns one answer for each of the first queries, in order; an error applies to that query only. */
type SendBatch = (queries: readonly TokenQuery[]) => Promise<readonly (Resolution | Error)[]>;

interface PendingQuery {
  readonly query: TokenQuery;
  readonly lane: object | null;
  readonly resolve: (resolution: Resolution) => void;
  readonly reject: (error: Error) => void;
}

/** More tokens than this go in several calls. */
export const BATCH_MAX = 256;
/** The control plane has few database connections for these calls; more calls would only queue there. */
const CALLS_MAX = 4;
/** About four times as many as are in flight at once. */
export const PENDING_QUERIES_MAX = 4_096;

export class ResolveBatcher {
  readonly #sendBatch: SendBatch;
  readonly #queue = new FairQueue<object | null, PendingQuery>();
  #scheduled = false;
  #calls = 0;

  constructor(sendBatch: SendBatch) {
    this.#sendBatch = sendBatch;
  }

  /** `lane` identifies the client; null is this process itself. */
  resolve(query: TokenQuery, lane: object | null): Promise<Resolution> {
    return new Promise((resolve, reject) => {
      this.#queue.push(lane, { query, lane, resolve, reject });
      if (this.#queue.size > PENDING_QUERIES_MAX)
        this.#queue.dropNewestOfLongest()!.reject(new Error('too many tokens wait to be resolved'));
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#queue.size === 0 || this.#calls >= CALLS_MAX) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#queue.size > 0 && this.#calls < CALLS_MAX) void this.#send(this.#queue.take(BATCH_MAX));
    });
  }

  /** Never rejects. */
  async #send(batch: readonly PendingQuery[]): Promise<void> {
    this.#calls++;
    try {
      const answers = await this.#sendBatch(batch.map(({ query }) => query));
      if (answers.length === 0) throw new Error('the control plane left a token unanswered');
      for (const [i, answer] of answers.entries()) {
        if (answer instanceof Error) batch[i]?.reject(answer);
        else batch[i]?.resolve(answer);
      }
      const unanswered = batch.slice(answers.length);
      if (unanswered.length > 0) this.#queue.putBack(unanswered.map((waiting) => [waiting.lane, waiting]));
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    } finally {
      this.#calls--;
      this.#schedule();
    }
  }
}
