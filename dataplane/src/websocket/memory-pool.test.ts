import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MemoryAllocation, MemoryPool } from './memory-pool.js';

const keeps = (): void => {
  throw new Error('nothing is taken from this one');
};

const MIB = 1024 * 1024;

test('pool: one organization alone gets all but an 8th, in one allocation or in many', () => {
  const pool = new MemoryPool(64 * MIB);
  const [one, other] = [pool.allocate('a', keeps), pool.allocate('a', keeps)];
  expect(one.resize(56 * MIB + 1)).toBe(false);
  expect(pool.bytes).toBe(0);
  expect(one.resize(50 * MIB)).toBe(true);
  expect(other.resize(6 * MIB)).toBe(true);
  expect(other.resize(6 * MIB + 1)).toBe(false);
  expect(pool.bytes).toBe(56 * MIB);
});

test('pool: a new organization gets some MiB beside one that holds its maximum', () => {
  const pool = new MemoryPool(64 * MIB);
  expect(pool.allocate('hostile', keeps).resize(56 * MIB)).toBe(true);
  const neighbour = pool.allocate('neighbour', keeps);
  for (let bytes = 0; bytes <= 4 * MIB; bytes += 64 * 1024) expect(neighbour.resize(bytes)).toBe(true);
});

test('pool: a rejected growth changes nothing, and a reduction always succeeds', () => {
  const pool = new MemoryPool(100);
  const [mine, theirs] = [pool.allocate('a', keeps), pool.allocate('b', keeps)];
  mine.resize(87);
  theirs.resize(11);
  expect(mine.resize(88)).toBe(false);
  expect([mine.bytes, pool.bytes]).toEqual([87, 98]);
  expect(mine.resize(86)).toBe(true);
  expect([mine.bytes, pool.bytes]).toEqual([86, 97]);
});

test('pool: a released allocation releases its bytes once and holds nothing again', () => {
  const pool = new MemoryPool(100);
  const [one, other] = [pool.allocate('a', keeps), pool.allocate('a', keeps)];
  one.resize(10);
  other.resize(5);
  one.release();
  one.release();
  expect([one.resize(1), pool.bytes, pool.organizationCount]).toEqual([false, 5, 1]);
  other.release();
  expect([pool.bytes, pool.organizationCount]).toEqual([0, 0]);
});

test('pool: when the pool is full, reclaims the largest allocation of the largest organization for a smaller one', () => {
  const pool = new MemoryPool(64 * MIB);
  const lost: string[] = [];
  for (const [org, sizes] of [
    ['first', [20, 30, 6]],
    ['second', [3, 4]],
  ] as const) {
    for (const mib of sizes) {
      expect(pool.allocate(org, () => void lost.push(`${org} ${mib}`)).resize(mib * MIB)).toBe(true);
    }
  }
  const newcomer = pool.allocate('newcomer', keeps);
  expect(newcomer.resize(4 * MIB)).toBe(true);
  expect(lost).toEqual(['first 30']);
  expect(pool.bytes).toBe(37 * MIB);
  expect(newcomer.resize(60 * MIB)).toBe(false); // It would hold the most itself.
  expect(lost).toEqual(['first 30']);
});

const steps = fc.array(
  fc.record({ org: fc.nat(4), socket: fc.nat(5), bytes: fc.integer({ min: 0, max: 400 }), close: fc.boolean() }),
  { maxLength: 80 },
);

test('pool: random traffic never exceeds the bound, leaves memory for a new organization, and ends with an empty pool', () => {
  fc.assert(
    fc.property(fc.integer({ min: 8, max: 1_000 }), steps, (max, all) => {
      const pool = new MemoryPool(max);
      const held = new Map<string, MemoryAllocation>();
      const open = (key: string) => {
        const holding = pool.allocate(key.slice(0, 1), () => {
          expect(held.get(key)).toBe(holding);
          held.delete(key);
        });
        held.set(key, holding);
        return holding;
      };
      for (const { org, socket, bytes, close } of all) {
        const key = `${org} ${socket}`;
        const one = held.get(key) ?? open(key);
        const before = one.bytes;
        const expected = one.resize(bytes) ? bytes : before;
        expect(one.bytes).toBe(expected);
        if (close) {
          one.release();
          held.delete(key);
        }
        expect(pool.bytes).toBe([...held.values()].reduce((sum, holding) => sum + holding.bytes, 0));
        expect(pool.bytes).toBeLessThanOrEqual(max);
      }
      const newcomer = pool.allocate('newcomer', keeps);
      expect(newcomer.resize(Math.floor(max / 8))).toBe(true);
      for (const holding of [newcomer, ...held.values()]) holding.release();
      expect([pool.bytes, pool.organizationCount]).toEqual([0, 0]);
    }),
  );
});
