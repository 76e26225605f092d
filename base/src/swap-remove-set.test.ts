import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SwapRemoveItem, SwapRemoveSet } from './swap-remove-set.js';

const contents = <T extends SwapRemoveItem>(bag: SwapRemoveSet<T>): Set<T> => {
  const seen = new Set<T>();
  bag.forEach((item) => void seen.add(item));
  return seen;
};

test('bag: behaves as a set, whatever is added and deleted', () => {
  const steps = fc.array(fc.record({ add: fc.boolean(), item: fc.nat(9) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (list) => {
      const items = Array.from({ length: 10 }, () => ({ setIndex: -1 }));
      const bag = new SwapRemoveSet<SwapRemoveItem>();
      const model = new Set<SwapRemoveItem>();
      for (const { add, item } of list) {
        if (add) bag.add(items[item]!);
        else bag.delete(items[item]!);
        if (add) model.add(items[item]!);
        else model.delete(items[item]!);
        expect(bag.size).toBe(model.size);
      }
      expect(contents(bag)).toEqual(model);
    }),
  );
});

test('bag: each item is visited once, also when the visit takes out it or others', () => {
  const items = Array.from({ length: 20 }, (_, n) => ({ setIndex: -1, n }));
  const bag = new SwapRemoveSet<(typeof items)[number]>();
  for (const item of items) bag.add(item);
  const visited: number[] = [];
  bag.forEach((item) => {
    visited.push(item.n);
    bag.delete(item);
    if (item.n === 12) for (const other of [3, 4, 5]) bag.delete(items[other]!);
  });
  expect(new Set(visited).size).toBe(visited.length);
  expect(visited).toHaveLength(17);
  expect(bag.size).toBe(0);
});
