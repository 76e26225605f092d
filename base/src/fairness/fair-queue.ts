/**
 * A queue with one lane for each organization or client. Lanes are served in turn, one item at a time (round robin:
 * Nagle, "On packet switches with infinite storage", RFC 970), each lane oldest first. So a lane with a thousand items
 * delays only its own. A caller that bounds the queue drops the newest item of the longest lane.
 */
export class FairQueue<Lane, Item> {
  /** Lanes with items, the lane to be served next first. */
  readonly #lanes = new Map<Lane, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  laneSize(lane: Lane): number {
    return this.#lanes.get(lane)?.length ?? 0;
  }

  push(lane: Lane, item: Item): void {
    const items = this.#lanes.get(lane);
    if (items === undefined) this.#lanes.set(lane, [item]);
    else items.push(item);
    this.#size++;
  }

  /** Puts items back that were taken: before the other items of their lanes, and their lanes before all others. */
  putBack(taken: Iterable<readonly [Lane, Item]>): void {
    const others = [...this.#lanes];
    this.#lanes.clear();
    this.#size = 0;
    for (const [lane, item] of taken) this.push(lane, item);
    for (const [lane, items] of others) for (const item of items) this.push(lane, item);
  }

  /** Takes the oldest item of the lane; null: it has none. */
  takeFrom(lane: Lane): Item | null {
    const items = this.#lanes.get(lane);
    if (items === undefined) return null;
    const item = items.shift()!;
    if (items.length === 0) this.#lanes.delete(lane);
    this.#size--;
    return item;
  }

  /** Takes up to `max` items, one of each lane in turn. `mayTake`: false skips the lane from then on. */
  take(max: number, mayTake: (lane: Lane) => boolean = () => true): Item[] {
    const taken: Item[] = [];
    if (max <= 0) return taken;
    // A lane that is set again moves to the end, where this loop reaches it once more.
    for (const [lane, items] of this.#lanes) {
      if (!mayTake(lane)) continue;
      taken.push(items.shift()!);
      this.#lanes.delete(lane);
      if (items.length > 0) this.#lanes.set(lane, items);
      if (taken.length === max) break;
    }
    this.#size -= taken.length;
    return taken;
  }

  /** Removes and returns the newest item of the longest lane; null: the queue is empty. */
  dropNewestOfLongest(): Item | null {
    let longest: [Lane, Item[]] | null = null;
    for (const entry of this.#lanes) if (longest === null || entry[1].length > longest[1].length) longest = entry;
    if (longest === null) return null;
    const [lane, items] = longest;
    const item = items.pop()!;
    if (items.length === 0) this.#lanes.delete(lane);
    this.#size--;
    return item;
  }
}
