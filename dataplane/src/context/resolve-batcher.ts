/**
 * Batches the tokens of one event-loop tick that the cache does not know into one call to the control plane, which
 * makes one database query. A start with an empty cache, or a flood of invented tokens, therefore costs calls per tick,
 * not per token. While {@link CALLS_MAX} calls are in flight, tokens queue in lanes, one for each client. The next call
 * takes one token of each lane in turn, so a client with thousands of tokens delays only itself. A full queue drops the
 * newest token of the longest lane. The size of an answer is bounded; tokens that it omits are sent again first.
 */
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

/** Queued queries of one client, oldest first. */
type PendingLane = PendingQuery[];

/** More tokens than this go in several calls. */
export const BATCH_MAX = 256;
/** The control plane has few database connections for these calls; more calls would only queue there. */
const CALLS_MAX = 4;
/** About four times as many as are in flight at once. */
export const PENDING_QUERIES_MAX = 4_096;

export class ResolveBatcher {
  readonly #sendBatch: SendBatch;
  /** Lanes with queued queries, the next to be served first. */
  readonly #lanes = new Map<object | null, PendingLane>();
  #waiting = 0;
  #scheduled = false;
  #calls = 0;

  constructor(sendBatch: SendBatch) {
    this.#sendBatch = sendBatch;
  }

  /** `lane` identifies the client; null is this process itself. */
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
    // A lane that is set again moves to the end, where this loop reaches it once more.
    for (const [lane, waiting] of this.#lanes) {
      batch.push(waiting.shift()!);
      this.#lanes.delete(lane);
      if (waiting.length > 0) this.#lanes.set(lane, waiting);
      if (batch.length === BATCH_MAX) break;
    }
    this.#waiting -= batch.length;
    return batch;
  }

  /** Puts unanswered queries first: before the newer ones of their lanes, and their lanes before all others. */
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
