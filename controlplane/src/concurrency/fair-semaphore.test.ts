import { expect, test } from 'vitest';
import { FairSemaphore } from './fair-semaphore.js';

/** Work that ends when told, and says in which order it began. */
function startWork(semaphore: FairSemaphore) {
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const rejected: string[] = [];
  const ask = (address: string, name = address) => {
    const work = () => {
      began.push(name);
      return new Promise<void>((end) => ends.push(end));
    };
    semaphore.run(address, work).catch(() => rejected.push(name));
  };
  /** Ends the work that began first; what waited for it has begun when this resolves. */
  const endOne = async () => {
    ends.shift()!();
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { began, refused: rejected, ask, endOne };
}

test('addresses are served in turn: one that asks a hundred times waits behind itself', async () => {
  const { began, ask, endOne } = startWork(new FairSemaphore({ runningMax: 1, waitingMax: 1_000, subject: 'tests' }));
  for (let n = 0; n < 100; n++) ask('flood', `flood ${n}`);
  ask('one');
  ask('two');
  for (let n = 0; n < 4; n++) await endOne();
  expect(began).toEqual(['flood 0', 'flood 1', 'one', 'two', 'flood 2']);
});

test('when all places are taken, the address with most waiting loses its newest, and nobody else anything', async () => {
  const { began, refused, ask, endOne } = startWork(
    new FairSemaphore({ runningMax: 1, waitingMax: 3, subject: 'tests' }),
  );
  for (let n = 0; n < 4; n++) ask('flood', `flood ${n}`);
  ask('one');
  ask('two');
  await endOne();
  expect(refused).toEqual(['flood 3', 'flood 2']);
  for (let n = 0; n < 2; n++) await endOne();
  expect(began).toEqual(['flood 0', 'flood 1', 'one', 'two']);
});

test('no more than the places run at once, and a failed work frees its place', async () => {
  const places = new FairSemaphore({ runningMax: 2, waitingMax: 10, subject: 'tests' });
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    throw new Error('failed');
  };
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => places.run(`a${n % 3}`, work)));
  expect([most, outcomes.filter((outcome) => outcome.status === 'rejected').length]).toEqual([2, 8]);
  await expect(places.run('a', async () => 'free')).resolves.toBe('free');
});

test('work that never ends takes half of the places, and however many do so one is left for the next', async () => {
  const { began, ask, endOne } = startWork(
    new FairSemaphore({ runningMax: 8, waitingMax: 1_000, subject: 'tests', freeRatio: 1 }),
  );
  for (let n = 0; n < 20; n++) ask('hanging');
  expect(began.length).toBe(4);
  for (let n = 0; n < 20; n++) ask('second');
  ask('third');
  expect(began).toEqual([...Array(4).fill('hanging'), 'second', 'second', 'third']);
  await endOne(); // of the hanging one, which has 3 left while 2 are free: it is not its turn
  expect(began.at(-1)).toBe('third');
  ask('fourth');
  expect(began.at(-1)).toBe('fourth');
});
