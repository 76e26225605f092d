/**
 * Puts together the tokens of one turn of the event loop that the cache does not know: one call to the control plane,
 * which asks the database once. So a start with an empty cache, or a flood of made-up tokens, costs calls by the turn
 * and not by the token. Where calls take longer than a turn, what comes meanwhile waits for the next one, which takes one
 * token of each lane in turn: whoever asks about thousands waits behind itself. When all places are taken, the lane with
 * most waiting loses its newest. An answer holds so much and no more: tokens that it leaves out are asked about again, the
 * first ones first.
 */
import type { Resolution } from './context-cache.js';

export interface TokenQuery {
  /** Lower case hex. */
  readonly tokenHash: string;
  readonly agentRef: string;
}

/** One answer for each of the first queries, in order; an error stands for that query alone. */
type SendBatch = (queries: readonly TokenQuery[]) => Promise<readonly (Resolution | Error)[]>;

interface PendingQuery {
  readonly query: TokenQuery;
  readonly lane: object | null;
  readonly resolve: (resolution: Resolution) => void;
  readonly reject: (error: Error) => void;
}

/** What waits of one lane, oldest first. */
type PendingLane = PendingQuery[];

/** Beyond it a turn's tokens go in several calls. */
export const BATCH_MAX = 256;
/** The control plane has a few connections for these; more calls would only wait there. */
const CALLS_MAX = 4;
/** Some four times as many as are asked about at once. */
export const PENDING_QUERIES_MAX = 4_096;

export class ResolveBatcher {
  readonly #sendBatch: SendBatch;
  /** Those with something waiting, the next to be served first. */
  readonly #lanes = new Map<object | null, PendingLane>();
  #waiting = 0;
  #scheduled = false;
  #calls = 0;

  constructor(ask: SendBatch) {
    this.#sendBatch = ask;
  }

  /** `lane`: on whose behalf; null is the process itself. */
  resolve(query: TokenQuery, lane: object | null): Promise<Resolution> {
    return new Promise((resolve, reject) => {
      const waiting = { query, lane, resolve, reject };
      const others = this.#lanes.get(lane);
      if (others === undefined) this.#lanes.set(lane, [waiting]);
      else others.push(waiting);
      if (++this.#waiting > PENDING_QUERIES_MAX) this.#dropNewestOfLongest();
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting === 0 || this.#calls >= CALLS_MAX) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      while (this.#waiting > 0 && this.#calls < CALLS_MAX) void this.#send(this.#nextBatch());
    });
  }

  #nextBatch(): PendingQuery[] {
    const batch: PendingQuery[] = [];
    // A lane that is set again goes to the end, where this loop meets it once more.
    for (const [lane, waiting] of this.#lanes) {
      batch.push(waiting.shift()!);
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      if (batch.length === BATCH_MAX) break;
    }
    this.#waiting -= batch.length;
    return batch;
  }

  /** They waited longest: they come first in their lanes, and these in their order before lanes that come now. */
  #requeue(left: readonly PendingQuery[]): void {
    if (left.length === 0) return;
    const again = new Map<object | null, PendingLane>();
    for (const waiting of left) {
      const lane = again.get(waiting.lane);
      if (lane === undefined) again.set(waiting.lane, [waiting]);
      else lane.push(waiting);
    }
    const others = [...this.#lanes];
    this.#lanes.clear();
    for (const [lane, waiting] of again) this.#lanes.set(lane, waiting);
    for (const [lane, waiting] of others) {
      const before = again.get(lane);
      if (before === undefined) this.#lanes.set(lane, waiting);
      else before.push(...waiting);
    }
    this.#waiting += left.length;
  }

  #dropNewestOfLongest(): void {
    let longest: [object | null, PendingLane] = [null, []];
    for (const entry of this.#lanes) if (entry[1].length > longest[1].length) longest = entry;
    const [lane, waiting] = longest;
    const { reject } = waiting.pop()!;
    if (waiting.length === 0) this.#lanes.delete(lane);
    this.#waiting--;
    reject(new Error('too many tokens wait to be resolved'));
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
      this.#requeue(batch.slice(answers.length));
    } catch (error) {
      for (const { reject } of batch) reject(error as Error);
    } finally {
      this.#calls--;
      this.#schedule();
    }
  }
}
