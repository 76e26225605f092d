/**
 * An unordered set for objects that are added and removed with every request. Each item stores its own array index, so
 * delete swaps in the last item in constant time.
 *
 * Why not a Set: under constant change V8 replaces its table every few changes, and the old table points to the new one
 * and to members. Once a full collection has moved a table to the old generation, that chain keeps every former member
 * alive until the next full collection. Measured on Node 20 at 2 000 requests/s: 8 KB of each request survived, and
 * scavenges took 4 to 40 ms instead of 1.
 */
export interface SwapRemoveItem {
  /** Written by the set; -1 outside a set. An item can be in one set at a time. */
  setIndex: number;
}

export class SwapRemoveSet<T extends SwapRemoveItem> {
  readonly #items: T[] = [];

  get size(): number {
    return this.#items.length;
  }

  /** Adds an item; no effect on an item that is in the set already. */
  add(item: T): void {
    if (item.setIndex >= 0) return;
    item.setIndex = this.#items.length;
    this.#items.push(item);
  }

  /** Removes an item; no effect on an item that is not in the set. */
  delete(item: T): void {
    const at = item.setIndex;
    if (at < 0) return;
    item.setIndex = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#items[at] = last;
    last.setIndex = at;
  }

  /** Calls `visit` for each item. `visit` may delete items; items that it adds are not visited. */
  forEach(visit: (item: T) => void): void {
    for (let i = this.#items.length - 1; i >= 0; i--) {
      const item = this.#items[i];
      if (item !== undefined) visit(item);
    }
  }
}
