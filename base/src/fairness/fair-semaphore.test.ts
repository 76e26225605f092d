import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { FairSemaphore, type FairSemaphoreOptions, QueueFull } from './fair-semaphore.js';

afterEach(() => void vi.restoreAllMocks());

/** Starts work that ends on request and records the order in which it started. */
function startWork(options: FairSemaphoreOptions) {
  const semaphore = new FairSemaphore(options);
  const started: string[] = [];
  const running: { readonly lane: string; readonly end: () => void }[] = [];
  const rejected: string[] = [];
  const start = (lane: string, name = lane): void => {
    const work = (): Promise<void> => {
      started.push(name);
      return new Promise<void>((end) => running.push({ lane, end }));
    };
    semaphore.run(lane, work).catch((error: unknown) => {
      expect(error).toBeInstanceOf(QueueFull);
      rejected.push(name);
    });
  };
  /** Lets promises settle: work that may start has started, and what is rejected is in `rejected`. */
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  };
  const finish = async (at = 0): Promise<void> => {
    running.splice(at, 1)[0]!.end();
    await settle();
  };
  return { semaphore, started, running, rejected, start, settle, finish };
}

test('semaphore: serves lanes in turn, so that a lane with a hundred requests does not delay the others', async () => {
  const { started, start, finish } = startWork({ runningMax: 1, waitingMax: 1_000 });
  for (let n = 0; n < 100; n++) start('flood', `flood ${n}`);
  start('one');
  start('two');
  for (let n = 0; n < 4; n++) await finish();
  expect(started).toEqual(['flood 0', 'flood 1', 'one', 'two', 'flood 2']);
});

test('semaphore: rejects the newest work of the longest lane when the queue is full', async () => {
  const { started, rejected, start, finish } = startWork({ runningMax: 1, waitingMax: 3 });
  for (let n = 0; n < 4; n++) start('flood', `flood ${n}`);
  start('one');
  start('two');
  await finish();
  expect(rejected).toEqual(['flood 3', 'flood 2']);
  for (let n = 0; n < 2; n++) await finish();
  expect(started).toEqual(['flood 0', 'flood 1', 'one', 'two']);
});

test('semaphore: limits each lane apart where only lanes have a limit', async () => {
  const { started, rejected, start, settle, finish } = startWork({ laneRunningMax: 1, laneWaitingMax: 2 });
  for (let n = 0; n < 4; n++) start('a', `a ${n}`);
  start('b');
  await settle();
  expect([started, rejected]).toEqual([['a 0', 'b'], ['a 3']]);
  await finish();
  await finish(1);
  expect(started).toEqual(['a 0', 'b', 'a 1', 'a 2']);
});

test('semaphore: rejects work that has waited too long instead of starting it, and starts the next', async () => {
  const { started, rejected, start, finish } = startWork({ laneRunningMax: 1, waitMsMax: 1_000 });
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  start('a', 'running');
  start('a', 'late 1');
  start('a', 'late 2');
  clock.mockReturnValue(500);
  start('a', 'in time');
  clock.mockReturnValue(1_400);
  await finish();
  expect([started, rejected]).toEqual([
    ['running', 'in time'],
    ['late 1', 'late 2'],
  ]);
});

test('semaphore: never runs more than the maximum at once and releases the slot of failed work', async () => {
  const semaphore = new FairSemaphore({ runningMax: 2, waitingMax: 10, createError: () => new Error('full') });
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

test('semaphore: limits hanging work to half of the slots and always leaves one slot for the next lane', async () => {
  const { started, start, finish } = startWork({ runningMax: 8, waitingMax: 1_000, fraction: 1 / 2 });
  for (let n = 0; n < 20; n++) start('hanging');
  expect(started.length).toBe(4);
  for (let n = 0; n < 20; n++) start('second');
  start('third');
  expect(started).toEqual([...Array(4).fill('hanging'), 'second', 'second', 'third']);
  await finish(); // Hanging work. Its lane still holds 3 slots while 2 are free, so it gets none.
  expect(started.at(-1)).toBe('third');
  start('fourth');
  expect(started.at(-1)).toBe('fourth');
});

const optionsArbitrary = fc.record({
  runningMax: fc.integer({ min: 1, max: 6 }),
  waitingMax: fc.integer({ min: 0, max: 8 }),
  laneRunningMax: fc.integer({ min: 1, max: 4 }),
  fraction: fc.constantFrom(1 / 2, 1),
});
const steps = fc.array(fc.record({ finish: fc.boolean(), lane: fc.nat(3).map(String), at: fc.nat(5) }), {
  maxLength: 40,
});

test('semaphore: random work stays within all limits, none is lost, and no slot is free that a waiter may have', async () => {
  await fc.assert(
    fc.asyncProperty(optionsArbitrary, steps, async (options, all) => {
      const { started, running, rejected, start, settle, finish } = startWork(options);
      let submitted = 0;
      const lanesOf = (names: readonly string[]): string[] => names.map((name) => name.split(' ')[0]!);
      const count = (lanes: readonly string[], lane: string): number => lanes.filter((one) => one === lane).length;
      const submittedLanes: string[] = [];
      for (const step of all) {
        if (step.finish && running.length > 0) await finish(step.at % running.length);
        else {
          start(step.lane, `${step.lane} ${submitted++}`);
          submittedLanes.push(step.lane);
          await settle();
        }
        const waiting = submitted - started.length - rejected.length;
        expect(running.length).toBeLessThanOrEqual(options.runningMax);
        expect(waiting).toBeLessThanOrEqual(options.waitingMax);
        const free = options.runningMax - running.length;
        for (const lane of new Set(submittedLanes)) {
          const held = running.filter((one) => one.lane === lane).length;
          const waits = count(submittedLanes, lane) - count(lanesOf(started), lane) - count(lanesOf(rejected), lane);
          expect(held).toBeLessThanOrEqual(options.laneRunningMax);
          const mayHaveMore = held < options.laneRunningMax && held < Math.ceil(options.fraction * (held + free));
          if (mayHaveMore) expect(waits).toBe(0);
        }
      }
      while (running.length > 0) await finish();
      expect(started.length + rejected.length).toBe(submitted);
      for (const lane of new Set(submittedLanes)) {
        const order = started.filter((name) => name.startsWith(`${lane} `)).map((name) => Number(name.split(' ')[1]));
        expect(order).toEqual(order.toSorted((a, b) => a - b)); // each lane in the order of its arrival
      }
    }),
  );
});
