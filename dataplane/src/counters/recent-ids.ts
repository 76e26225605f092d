/** Remembers at least the last `count` ids and at most twice as many, in two generations. */
export class RecentIds {
  readonly #count: number;
  #young = new Set<string>();
  #old = new Set<string>();

  constructor(count: number) {
    this.#count = count;
  }

  /** False when the id is already known. */
  add(id: string): boolean {
    if (this.#young.has(id) || this.#old.has(id)) return false;
    this.#young.add(id);
    if (this.#young.size >= this.#count) {
      this.#old = this.#young;
      this.#young = new Set();
    }
    return true;
  }
}
