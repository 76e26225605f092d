/**
 * Batches the tokens that the cache does not know into calls to the control plane, each of which makes one database
 * query. The first token starts a call, with all others of its event-loop tick. While calls are in flight, tokens queue in
 * lanes, one for each client: until a call ends, or until {@link PAUSE_MS} after the last one began, if fewer than
 * {@link CALLS_MAX} are in flight. Of the database's time for one token, 1.5 of 1.7 ms are spent once for each query. A
 * call takes one token of each lane in turn, so a client with thousands of tokens delays only itself. A full queue drops
 * the newest token of the longest lane. The size of an answer is bounded; tokens that it omits are sent again first.
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
/** How long a call in flight, which may be slow, delays tokens that fill no further one. */
const PAUSE_MS = 10;
/** About four times as many as are in flight at once. */
export const PENDING_QUERIES_MAX = 4_096;

export class ResolveBatcher {
  readonly #sendBatch: SendBatch;
  readonly #queue = new FairQueue<object | null, PendingQuery>();
  #scheduled = false;
  #calls = 0;
  /** Runs for {@link PAUSE_MS} after each call began; null: it has fired. */
  #pause: NodeJS.Timeout | null = null;

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
    if (this.#scheduled || !this.#maySend()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#maySend()) void this.#send(this.#queue.take(BATCH_MAX));
    });
  }

  #maySend(): boolean {
    if (this.#calls === 0) return this.#queue.size > 0;
    return this.#calls < CALLS_MAX && this.#queue.size >= (this.#pause === null ? 1 : BATCH_MAX);
  }

  #startPause(): void {
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#pause = setTimeout(() => {
      this.#pause = null;
      this.#schedule();
    }, PAUSE_MS).unref();
  }

  /** Never rejects. */
  async #send(batch: readonly PendingQuery[]): Promise<void> {
    this.#calls++;
    this.#startPause();
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
