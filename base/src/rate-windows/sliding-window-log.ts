/**
 * Exact sliding log of one RPM window in memory: a ring buffer of admission times. The ring grows with use; it holds at
 * most the admissions of one window. The interval is half-open: a request admitted at t is counted until just before t
 * + window.
 *
 *    #head ─▶ oldest … newest      (indexes modulo the ring's length, which is a power of two)
 */
const CAPACITY_MIN = 8;

export class SlidingWindowLog {
  #ring = new Float64Array(CAPACITY_MIN);
  #head = 0;
  #count = 0;

  /**
   * Drops expired entries and returns how many are still counted at `nowUs`. Times must not decrease; see {@link
   * clampClockOrClearLog}.
   */
  dropExpiredAndCount(nowUs: number, windowUs: number): number {
    const mask = this.#ring.length - 1;
    while (this.#count > 0 && this.#ring[this.#head & mask]! + windowUs <= nowUs) {
      this.#head++;
      this.#count--;
    }
    if (this.#count === 0) this.#resetRingToMinCapacity();
    return this.#count;
  }

  /**
   * Time to use when the clock reads `nowUs`, µs. After a step back of at most one window it returns the newest entry's
   * time. After a larger step back it empties the log and returns `nowUs`.
   */
  clampClockOrClearLog(nowUs: number, windowUs: number): number {
    if (this.#count === 0) return nowUs;
    const newest = this.timeAt(this.#count - 1);
    if (newest <= nowUs) return nowUs;
    if (newest - nowUs <= windowUs) return newest;
    this.#count = 0;
    return nowUs;
  }

  appendTime(timeUs: number): void {
    if (this.#count === this.#ring.length) this.#growRing();
    this.#ring[(this.#head + this.#count) & (this.#ring.length - 1)] = timeUs;
    this.#count++;
  }

  /** The i-th oldest entry, 0 ≤ i < count. */
  timeAt(index: number): number {
    return this.#ring[(this.#head + index) & (this.#ring.length - 1)]!;
  }

  #growRing(): void {
    const ring = new Float64Array(this.#ring.length * 2);
    for (let i = 0; i < this.#count; i++) ring[i] = this.timeAt(i);
    this.#ring = ring;
    this.#head = 0;
  }

  #resetRingToMinCapacity(): void {
    this.#head = 0;
    if (this.#ring.length > CAPACITY_MIN) this.#ring = new Float64Array(CAPACITY_MIN);
  }
}
