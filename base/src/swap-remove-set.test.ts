import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type SwapRemoveItem, SwapRemoveSet } from './swap-remove-set.js';

const contents = <T extends SwapRemoveItem>(set: SwapRemoveSet<T>): Set<T> => {
  const seen = new Set<T>();
  set.forEach((item) => void seen.add(item));
  return seen;
};

test('swap-remove set: behaves as a Set for any sequence of add and delete', () => {
  const steps = fc.array(fc.record({ add: fc.boolean(), item: fc.nat(9) }), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (list) => {
      const items = Array.from({ length: 10 }, () => ({ setIndex: -1 }));
      const set = new SwapRemoveSet<SwapRemoveItem>();
      const model = new Set<SwapRemoveItem>();
      for (const { add, item } of list) {
        if (add) set.add(items[item]!);
        else set.delete(items[item]!);
        if (add) model.add(items[item]!);
        else model.delete(items[item]!);
        expect(set.size).toBe(model.size);
      }
      expect(contents(set)).toEqual(model);
    }),
  );
});

test('swap-remove set: visits each item once, also when the visitor deletes items', () => {
  const items = Array.from({ length: 20 }, (_, n) => ({ setIndex: -1, n }));
  const set = new SwapRemoveSet<(typeof items)[number]>();
  for (const item of items) set.add(item);
  const visited: number[] = [];
  set.forEach((item) => {
    visited.push(item.n);
    set.delete(item);
    if (item.n === 12) for (const other of [3, 4, 5]) set.delete(items[other]!);
  });
  expect(new Set(visited).size).toBe(visited.length);
  expect(visited).toHaveLength(17);
  expect(set.size).toBe(0);
});
