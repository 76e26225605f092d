import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DynamicShare } from './dynamic-share.js';

/** How many of `count` single units the lane gets. */
const takeUnits = (share: DynamicShare, count: number, lane: string): number =>
  Array.from({ length: count }, () => share.tryTake(lane)).filter(Boolean).length;

test.each([
  [7 / 8, 10_000, 8_750],
  [7 / 8, 160, 140],
  [7 / 8, 100, 88],
  [7 / 8, 7, 7],
  [1 / 2, 12, 6],
  [1 / 2, 10, 5],
  [1, 5, 5],
])('share: with a fraction of %d, one lane alone gets its part of %i', (fraction, capacity, expected) => {
  expect(takeUnits(new DynamicShare({ capacity, fraction }), 2 * capacity, 'a')).toBe(expected);
  const share = new DynamicShare({ capacity, fraction });
  expect([share.tryTake('a', expected + 1), share.tryTake('a', expected), share.used]).toEqual([false, true, expected]);
});

test('share: one lane gets at most laneMax, however much is free', () => {
  expect(takeUnits(new DynamicShare({ capacity: 10_000, fraction: 7 / 8, laneMax: 25 }), 20_000, 'a')).toBe(25);
});

test('share: new lanes start at once beside a lane at its limit, and catch up as it releases', () => {
  const share = new DynamicShare({ capacity: 100, fraction: 7 / 8 });
  expect([takeUnits(share, 100, 'a'), takeUnits(share, 100, 'b')]).toEqual([88, 11]);
  for (let round = 0; round < 20; round++) {
    share.release('a', 2);
    for (const lane of ['a', 'b', 'c']) share.tryTake(lane);
  }
  expect(['a', 'b', 'c'].map((lane) => share.heldBy(lane))).toEqual([48, 29, 20]); // and three are free
});

test('share: capacity that something else uses is not free', () => {
  const share = new DynamicShare({ capacity: 100, fraction: 1 / 2 });
  expect([share.available('a', 10), share.tryTake('a', 6, 10), share.tryTake('a', 5, 10)]).toEqual([5, false, true]);
});

test('share: a lane beside any number of lanes that take all they can finds capacity', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.constantFrom(1, 7), (greedy, ratio) => {
      const capacity = 2_000;
      const share = new DynamicShare({ capacity, fraction: ratio / (1 + ratio) });
      for (let i = 0; i < capacity; i++) for (let lane = 0; lane < greedy; lane++) share.tryTake(`${lane}`);
      expect(share.free).toBeGreaterThanOrEqual(Math.floor(capacity / (1 + greedy * ratio)));
      expect(share.tryTake('new')).toBe(true);
    }),
  );
});

const steps = fc.array(
  fc.record({
    lane: fc.nat(4).map(String),
    action: fc.constantFrom('tryTake', 'take', 'release'),
    amount: fc.integer({ min: 0, max: 60 }),
  }),
  { maxLength: 60 },
);
const options = fc.record({
  capacity: fc.integer({ min: 1, max: 200 }),
  ratio: fc.constantFrom(1, 7, Number.POSITIVE_INFINITY),
  laneMax: fc.oneof(fc.integer({ min: 1, max: 80 }), fc.constant(Number.POSITIVE_INFINITY)),
});

test('share: equals the model, which takes unit by unit while a lane holds less than `ratio` times what is free', () => {
  fc.assert(
    fc.property(options, steps, ({ capacity, ratio, laneMax }, all) => {
      const share = new DynamicShare({ capacity, fraction: ratio === Infinity ? 1 : ratio / (1 + ratio), laneMax });
      const model = new Map<string, number>();
      const used = (): number => [...model.values()].reduce((sum, held) => sum + held, 0);
      const availableInModel = (lane: string): number => {
        const held = model.get(lane) ?? 0;
        let more = 0;
        while (held + more < laneMax && held + more < ratio * (capacity - used() - more)) more++;
        return more;
      };
      for (const { lane, action, amount } of all) {
        const held = model.get(lane) ?? 0;
        expect(Math.max(0, share.available(lane))).toBe(availableInModel(lane));
        if (action === 'release') {
          const released = Math.min(amount, held);
          share.release(lane, released);
          model.set(lane, held - released);
        } else if (action === 'take') {
          share.take(lane, amount);
          model.set(lane, held + amount);
        } else {
          const fits = amount <= availableInModel(lane);
          if (amount > 0) expect(share.tryTake(lane, amount)).toBe(fits);
          if (fits) model.set(lane, held + amount);
        }
        expect([share.used, share.free]).toEqual([used(), capacity - used()]);
        const lanes = [...share.lanes].map(([key, { held: heldNow }]) => [key, heldNow] as const);
        expect(new Map(lanes)).toEqual(new Map([...model].filter(([, heldNow]) => heldNow > 0)));
      }
    }),
  );
});

test('share: a lane that holds nothing gets a free unit, and no lane is rejected before one that holds more', () => {
  fc.assert(
    fc.property(options, steps, ({ capacity, ratio, laneMax }, all) => {
      const share = new DynamicShare({ capacity, fraction: ratio === Infinity ? 1 : ratio / (1 + ratio), laneMax });
      for (const { lane, action, amount } of all) {
        if (action !== 'release') takeUnits(share, amount, lane);
        else share.release(lane, Math.min(amount, share.heldBy(lane)));
      }
      fc.pre(share.free > 0);
      const lanes = ['0', '1', '2', '3', '4', 'new'].sort((a, b) => share.heldBy(a) - share.heldBy(b));
      const mayTake = lanes.map((lane) => share.available(lane) > 0);
      expect(mayTake[0]).toBe(true); // `new` holds nothing
      if (mayTake.includes(false)) expect(mayTake.slice(mayTake.indexOf(false))).not.toContain(true);
    }),
  );
});

test('share: a release of more than the lane holds changes nothing', () => {
  const share = new DynamicShare({ capacity: 10 });
  share.take('a', 2);
  share.release('a', 3);
  share.release('b');
  expect([share.used, [...share.lanes]]).toEqual([2, [['a', { held: 2 }]]]);
});
