/**
 * How many costly queries one organization has at once: two run, eight wait in order, further ones are refused. So no
 * organization holds the pool of connections, whatever it asks for. Counts this process only, as the pool does.
 */
import { TooManyAttempts } from '../domain/errors.js';

const RUNNING_MAX = 2;
const WAITING_MAX = 8;
const RETRY_AFTER_S = 5;

interface Lane {
  running: number;
  readonly waiting: (() => void)[];
}

export class QueryGate {
  /** Organizations with a query that runs; the others have no entry. */
  readonly #lanes = new Map<string, Lane>();

  /** Runs the query when it is its turn; throws {@link TooManyAttempts} when too many wait already. */
  async run<T>(orgId: string, query: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(orgId) ?? { running: 0, waiting: [] };
    this.#lanes.set(orgId, lane);
    if (lane.running < RUNNING_MAX) lane.running++;
    else if (lane.waiting.length >= WAITING_MAX) {
      throw new TooManyAttempts('too many log queries of this organization at once: try again later', RETRY_AFTER_S);
    } else await new Promise<void>((turn) => lane.waiting.push(turn)); // who leaves hands over its place
    try {
      return await query();
    } finally {
      const next = lane.waiting.shift();
      if (next !== undefined) next();
      else if (--lane.running === 0) this.#lanes.delete(orgId);
    }
  }
}
