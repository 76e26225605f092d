import { expect, test } from 'vitest';
import { TooManyAttempts } from '../domain/errors.js';
import { QueryGate } from './query-gate.js';

test('gate: two run, eight wait, the next is refused; another organization is not held up', async () => {
  const gate = new QueryGate();
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const query = (i: number) => () => {
    started.push(i);
    return new Promise<number>((resolve) => ends.push(() => resolve(i)));
  };
  const queries = Array.from({ length: 10 }, (_, i) => gate.run('busy', query(i)));
  await expect(gate.run('busy', query(10))).rejects.toThrow(TooManyAttempts);
  expect(started).toEqual([0, 1]);
  await expect(gate.run('other', async () => 'served')).resolves.toBe('served');
  for (let i = 0; i < 10; i++) {
    ends[i]!();
    await expect(queries[i]).resolves.toBe(i);
  }
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await expect(gate.run('busy', async () => 'free again')).resolves.toBe('free again');
});

test('gate: a query that fails gives its place back', async () => {
  const gate = new QueryGate();
  const fail = () => gate.run('org', () => Promise.reject(new Error('gone')));
  for (let i = 0; i < 3; i++) await expect(fail()).rejects.toThrow('gone');
  await expect(gate.run('org', async () => 1)).resolves.toBe(1);
});
