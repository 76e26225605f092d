import { expect, test } from 'vitest';
import { FairSemaphore } from './fair-semaphore.js';

/** Starts work that ends on request and records the order in which it started. */
function startWork(semaphore: FairSemaphore) {
  const startedNames: string[] = [];
  const finishers: (() => void)[] = [];
  const rejected: string[] = [];
  const start = (key: string, name = key) => {
    const work = () => {
      startedNames.push(name);
      return new Promise<void>((end) => finishers.push(end));
    };
    semaphore.run(key, work).catch(() => rejected.push(name));
  };
  /** Finishes the oldest running work. Queued work that can run has started when this resolves. */
  const finishOldest = async () => {
    finishers.shift()!();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { startedNames, rejected, start, finishOldest };
}

test('serves keys in turn, so that a key with a hundred requests does not delay the others', async () => {
  const { startedNames, start, finishOldest } = startWork(
    new FairSemaphore({ runningMax: 1, waitingMax: 1_000, subject: 'tests' }),
  );
  for (let n = 0; n < 100; n++) start('flood', `flood ${n}`);
  start('one');
  start('two');
  for (let n = 0; n < 4; n++) await finishOldest();
  expect(startedNames).toEqual(['flood 0', 'flood 1', 'one', 'two', 'flood 2']);
});

test('rejects the newest request of the key with the longest queue when the queue is full', async () => {
  const { startedNames, rejected, start, finishOldest } = startWork(
    new FairSemaphore({ runningMax: 1, waitingMax: 3, subject: 'tests' }),
  );
  for (let n = 0; n < 4; n++) start('flood', `flood ${n}`);
  start('one');
  start('two');
  await finishOldest();
  expect(rejected).toEqual(['flood 3', 'flood 2']);
  for (let n = 0; n < 2; n++) await finishOldest();
  expect(startedNames).toEqual(['flood 0', 'flood 1', 'one', 'two']);
});

test('never runs more than the maximum at once and releases the slot of failed work', async () => {
  const semaphore = new FairSemaphore({ runningMax: 2, waitingMax: 10, subject: 'tests' });
  let running = 0;
  let maxRunning = 0;
  const work = async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await Promise.resolve();
    running--;
    throw new Error('failed');
  };
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => semaphore.run(`a${n % 3}`, work)));
  expect([maxRunning, outcomes.filter((outcome) => outcome.status === 'rejected').length]).toEqual([2, 8]);
  await expect(semaphore.run('a', async () => 'free')).resolves.toBe('free');
});

test('limits hanging work to half of the free slots and always leaves one slot for the next key', async () => {
  const { startedNames, start, finishOldest } = startWork(
    new FairSemaphore({ runningMax: 8, waitingMax: 1_000, subject: 'tests', freeRatio: 1 }),
  );
  for (let n = 0; n < 20; n++) start('hanging');
  expect(startedNames.length).toBe(4);
  for (let n = 0; n < 20; n++) start('second');
  start('third');
  expect(startedNames).toEqual([...Array(4).fill('hanging'), 'second', 'second', 'third']);
  await finishOldest(); // Finishes hanging work. That key still holds 3 slots while 2 are free, so it gets none.
  expect(startedNames.at(-1)).toBe('third');
  start('fourth');
  expect(startedNames.at(-1)).toBe('fourth');
});
