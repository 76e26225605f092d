/**
 * This process's marks in the store, one per slot: the sequence number of the last call with spend that was applied
 * there. They tell a repeated call from a new one, and a store that lost data from one that has it all.
 */
import { MARK_TTL_MS } from './admit-call.js';

/** A mark this old may have expired by itself. */
const TRUSTED_MS = MARK_TTL_MS * 0.9;

interface Mark {
  /** Hash tag of its key. */
  readonly tag: string;
  /** Highest sequence number known to be in the store. */
  seq: number;
  /** `performance.now()` of its writing. */
  atMs: number;
}

export class WriterMarks {
  /** At most one per slot of a cluster. */
  readonly #slots = new Map<number, Mark>();

  /** The tag of a slot's mark; `tag` becomes it where there is none yet. */
  tagOf(slot: number, tag: string): string {
    let mark = this.#slots.get(slot);
    if (mark === undefined) {
      mark = { tag, seq: 0, atMs: 0 };
      this.#slots.set(slot, mark);
    }
    return mark.tag;
  }

  /** Takes note of the mark that a call found. False: the store had a higher one before and lost it. */
  found(slot: number, seq: number, nowMs: number): boolean {
    const mark = this.#slots.get(slot);
    if (mark === undefined || seq >= mark.seq) return true;
    mark.seq = seq;
    return nowMs - mark.atMs >= TRUSTED_MS;
  }

  written(slot: number, seq: number, nowMs: number): void {
    const mark = this.#slots.get(slot);
    if (mark === undefined || seq < mark.seq) return;
    mark.seq = seq;
    mark.atMs = nowMs;
  }
}
