/** Events in virtual time, the earliest first; events of one instant in the order in which they were added. */
interface Event {
  readonly atUs: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (one: Event, other: Event): boolean =>
  one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order);

export class EventQueue {
  /** A binary heap: no event comes before its parent at half its index. */
  readonly #heap: Event[] = [];
  #added = 0;
  nowUs = 0;

  add(atUs: number, run: () => void): void {
    const event = { atUs: Math.max(atUs, this.nowUs), order: this.#added++, run };
    let at = this.#heap.length;
    for (; at > 0; at = (at - 1) >> 1) {
      const parent = this.#heap[(at - 1) >> 1]!;
      if (isBefore(parent, event)) break;
      this.#heap[at] = parent;
    }
    this.#heap[at] = event;
  }

  /** Runs events until none is left. False: some are left after `most`. */
  runAll(most: number): boolean {
    let count = 0;
    for (let event = this.#takeFirst(); event !== undefined; event = this.#takeFirst()) {
      if (++count > most) return false;
      this.nowUs = event.atUs;
      event.run();
    }
    return true;
  }

  #takeFirst(): Event | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined || this.#heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && isBefore(this.#heap[child + 1]!, this.#heap[child]!)) child++;
      if (isBefore(last, this.#heap[child]!)) break;
      this.#heap[at] = this.#heap[child]!;
      at = child;
    }
    this.#heap[at] = last;
    return first;
  }
}
