import { Secret } from '@acg/base/secret';
import { expect, test } from 'vitest';
import { openPool } from '../../db/postgres-client.js';
import { TooManyAttempts } from '../../domain/errors.js';
import { QueryConcurrencyLimiter } from './query-concurrency-limiter.js';

/** Never connects. */
const sql = openPool(new Secret('postgres://127.0.0.1:1/none'), { connectionsMax: 1, applicationName: 'test' });

test('runs two queries, queues eight, rejects the next, and does not delay another organization', async () => {
  const limiter = new QueryConcurrencyLimiter(sql);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const query = (i: number) => () => {
    started.push(i);
    return new Promise<number>((resolve) => ends.push(() => resolve(i)));
  };
  const queries = Array.from({ length: 10 }, (_, i) => limiter.run('busy', query(i)));
  await expect(limiter.run('busy', query(10))).rejects.toThrow(TooManyAttempts);
  expect(started).toEqual([0, 1]);
  await expect(limiter.run('other', async () => 'served')).resolves.toBe('served');
  for (let i = 0; i < 10; i++) {
    ends[i]!();
    await expect(queries[i]).resolves.toBe(i);
  }
  expect(started).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await expect(limiter.run('busy', async () => 'free again')).resolves.toBe('free again');
});

test('a failed query releases its slot', async () => {
  const limiter = new QueryConcurrencyLimiter(sql);
  const fail = () => limiter.run('org', () => Promise.reject(new Error('gone')));
  for (let i = 0; i < 3; i++) await expect(fail()).rejects.toThrow('gone');
  await expect(limiter.run('org', async () => 1)).resolves.toBe(1);
});

test('allows ten open exports, whose queries wait when report queries would be rejected', async () => {
  const limiter = new QueryConcurrencyLimiter(sql);
  const closes = Array.from({ length: 10 }, (_, n) => limiter.openExport('org', `member ${n}`));
  expect(() => limiter.openExport('org', 'another')).toThrow(TooManyAttempts);
  limiter.openExport('other', 'member 0')();
  closes[0]!();
  closes[0]!(); // the second call has no effect
  limiter.openExport('org', 'member 0');
  expect(() => limiter.openExport('org', 'another')).toThrow(TooManyAttempts);

  const ends: (() => void)[] = [];
  const query = () => new Promise<void>((resolve) => ends.push(resolve));
  const reportQueries = Array.from({ length: 10 }, () => limiter.run('org', query));
  await expect(limiter.run('org', query)).rejects.toThrow(TooManyAttempts);
  const run = limiter.run('org', async () => 'a run', true);
  for (let i = 0; i < 10; i++) {
    ends[i]!();
    await reportQueries[i];
  }
  await expect(run).resolves.toBe('a run');
});

test('one member can open only half of the exports', () => {
  const limiter = new QueryConcurrencyLimiter(sql);
  const open = (member: string): boolean => {
    try {
      limiter.openExport('org', member);
      return true;
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      return false;
    }
  };
  const opened = (member: string): number => Array.from({ length: 12 }, () => open(member)).filter(Boolean).length;
  expect([opened('viewer'), opened('owner'), opened('admin')]).toEqual([5, 3, 1]);
});

test('runs export queries one at a time without delaying a report query', async () => {
  const limiter = new QueryConcurrencyLimiter(sql);
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string, isPatient: boolean) => {
    const query = () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    return limiter.run('org', query, isPatient);
  };
  const all = [run('export 1', true), run('export 2', true), run('export 3', true), run('question', false)];
  expect(started).toEqual(['export 1', 'question']);
  ends[1]!();
  await all[3];
  expect(started).toEqual(['export 1', 'question']);
  ends[0]!();
  await all[0];
  expect(started).toEqual(['export 1', 'question', 'export 2']);
  ends[2]!();
  await all[1];
  ends[3]!();
  await all[2];
  await expect(limiter.run('org', async () => 'free', true)).resolves.toBe('free');
});
