import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.js';

/** The queue as a list of items in the order of their arrival, and the lanes in the order of their turns. */
class Model {
  readonly items: { lane: number; item: number }[] = [];
  turns: number[] = [];

  push(lane: number, item: number): void {
    this.items.push({ lane, item });
    if (!this.turns.includes(lane)) this.turns.push(lane);
  }

  take(max: number, skipped: number): number[] {
    const taken: number[] = [];
    while (taken.length < max) {
      const lane = this.turns.find((one) => one !== skipped);
      if (lane === undefined) break;
      taken.push(this.remove(this.items.findIndex((one) => one.lane === lane)));
      this.turns = this.turns.filter((one) => one !== lane);
      if (this.items.some((one) => one.lane === lane)) this.turns.push(lane);
    }
    return taken;
  }

  takeFrom(lane: number): number | null {
    const at = this.items.findIndex((one) => one.lane === lane);
    if (at < 0) return null;
    const item = this.remove(at);
    if (!this.items.some((one) => one.lane === lane)) this.turns = this.turns.filter((one) => one !== lane);
    return item;
  }

  drop(): number | null {
    const length = (lane: number): number => this.items.filter((one) => one.lane === lane).length;
    const longest = this.turns.toSorted((a, b) => length(b) - length(a))[0]; // the first of several
    if (longest === undefined) return null;
    const item = this.remove(this.items.findLastIndex((one) => one.lane === longest));
    if (length(longest) === 0) this.turns = this.turns.filter((one) => one !== longest);
    return item;
  }

  remove(at: number): number {
    return this.items.splice(at, 1)[0]!.item;
  }
}

const steps = fc.array(
  fc.record({
    action: fc.constantFrom('push', 'push', 'push', 'take', 'takeFrom', 'drop'),
    lane: fc.nat(4),
    max: fc.nat(6),
  }),
  { maxLength: 80 },
);

test('queue: equals the model, which takes one item of each lane in turn and drops the newest of the longest', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const queue = new FairQueue<number, number>();
      const model = new Model();
      for (const [item, { action, lane, max }] of all.entries()) {
        if (action === 'push') {
          queue.push(lane, item);
          model.push(lane, item);
        } else if (action === 'take') {
          expect(queue.take(max, (one) => one !== lane)).toEqual(model.take(max, lane));
        } else if (action === 'takeFrom') {
          expect(queue.takeFrom(lane)).toBe(model.takeFrom(lane));
        } else expect(queue.dropNewestOfLongest()).toBe(model.drop());
        expect(queue.size).toBe(model.items.length);
        expect(queue.laneSize(lane)).toBe(model.items.filter((one) => one.lane === lane).length);
      }
      expect(queue.take(Number.POSITIVE_INFINITY)).toEqual(model.take(Number.POSITIVE_INFINITY, -1));
    }),
  );
});

test('queue: a lane with a hundred items delays no other lane', () => {
  const queue = new FairQueue<string, string>();
  for (let n = 0; n < 100; n++) queue.push('flood', `flood ${n}`);
  queue.push('one', 'one');
  queue.push('two', 'two');
  expect(queue.take(5)).toEqual(['flood 0', 'one', 'two', 'flood 1', 'flood 2']);
});

test('queue: items that are put back come before the others of their lanes, and their lanes before all others', () => {
  const queue = new FairQueue<string, number>();
  for (const item of [1, 2, 3]) queue.push('big', item);
  const taken = queue.take(2);
  queue.push('other', 4);
  queue.putBack(taken.map((item) => ['big', item]));
  expect([queue.size, queue.take(10)]).toEqual([4, [1, 4, 2, 3]]);
});
