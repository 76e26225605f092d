import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { createLogger } from '@acg/base/log';
import type { IOriginContact } from '@acg/proto/messages';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { ConnectBreaker } from './connect-breaker.js';
import { ConnectBreakerRegistry } from './connect-breaker-registry.js';
import { EventLoopStallDetector } from './event-loop-stall-detector.js';

const failing = (breaker: ConnectBreaker, atMs: readonly number[]): boolean[] =>
  atMs.map((ms) => breaker.recordFailure(ms));

test('connect breaker: opens at the fifth failure if the first is at least five seconds old', () => {
  expect(failing(new ConnectBreaker(), [0, 1_000, 2_000, 3_000, 4_999, 5_000])).toEqual([
    ...Array(5).fill(false),
    true,
  ]);
  expect(failing(new ConnectBreaker(), [0, 5_000, 5_001, 5_002])).not.toContain(true); // four
  expect(failing(new ConnectBreaker(), [0, 0, 0, 0, 0, 0, 0])).not.toContain(true); // all at once
  expect(failing(new ConnectBreaker(), [0, 40_000, 40_001, 40_002, 40_003])).not.toContain(true); // the first is too old
});

test('connect breaker: a success resets the failures and closes it', () => {
  const breaker = new ConnectBreaker();
  failing(breaker, [0, 1_000, 2_000, 3_000]);
  expect(breaker.recordSuccess(4_000)).toBe(false);
  expect(failing(breaker, [4_500, 6_000, 7_000, 8_000])).not.toContain(true);
  expect(breaker.recordFailure(9_500)).toBe(true);
  expect([breaker.isOpen, breaker.recordFailure(9_600), breaker.lastContactMs]).toEqual([true, false, 9_600]);
  expect([breaker.recordSuccess(9_700), breaker.isOpen, breaker.recordSuccess(9_800)]).toEqual([true, false, false]);
});

test('connect breaker: never opens when an answer came within any five failures in a row', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(3_000), { maxLength: 60 }), (waits) => {
      const breaker = new ConnectBreaker();
      let nowMs = 0;
      for (const [at, wait] of waits.entries()) {
        nowMs += wait;
        if (at % 5 === 4) breaker.recordSuccess(nowMs);
        else expect(breaker.recordFailure(nowMs)).toBe(false);
      }
    }),
  );
});

const ORIGIN = 'http://a.example';
const breakers: ConnectBreakerRegistry[] = [];
const servers: Server[] = [];
afterEach(() => {
  for (const one of breakers.splice(0)) one.stop();
  for (const server of servers.splice(0)) server.close();
});

interface Setup {
  readonly connects: ConnectBreakerRegistry;
  readonly reports: IOriginContact[][];
  readonly clock: { now: number; stalled: boolean };
}

/** Probes connect to a port of this machine and report like calls. */
function setup(port: () => number): Setup {
  const clock = { now: 1_000, stalled: false };
  const reports: IOriginContact[][] = [];
  const connects: ConnectBreakerRegistry = new ConnectBreakerRegistry({
    dial: (origin, done) => {
      const socket = connect(port(), '127.0.0.1');
      socket.once('connect', () => {
        connects.onDialed(origin, 0, null);
        done(null, socket);
      });
      socket.once('error', (error) => {
        connects.onDialed(origin, 0, { local: false });
        done(error, null);
      });
    },
    reportContacts: (contacts) => Promise.resolve(void reports.push(contacts)),
    hasStalledSince: () => clock.stalled,
    log: createLogger('test', 'silent'),
    nowMs: () => clock.now,
    random: () => 0,
  });
  breakers.push(connects);
  return { connects, reports, clock };
}

function fail({ connects, clock }: Setup, times: number, local = false): void {
  for (let i = 0; i < times; i++) {
    connects.onDialed(ORIGIN, 0, { local });
    clock.now += 1_500;
  }
}

test('connect breakers: ignores local failures and failures during an event-loop stall', () => {
  const one = setup(() => 1);
  expect(one.connects.isOpen(ORIGIN)).toBe(false);
  fail(one, 10, true);
  one.clock.stalled = true;
  fail(one, 10);
  expect(one.connects.isOpen(ORIGIN)).toBe(false);
  one.clock.stalled = false;
  fail(one, 5);
  expect([one.connects.isOpen(ORIGIN), one.connects.openCount]).toEqual([true, 1]);
});

test('connect breakers: ignores origins without calls of a built-in provider', () => {
  const one = setup(() => 1);
  fail(one, 10);
  expect(one.connects.isOpen(ORIGIN)).toBe(false);
});

test('connect breakers: an open breaker probes by itself and closes on success; both changes are reported at once', async () => {
  let port = 1;
  const one = setup(() => port);
  one.connects.isOpen(ORIGIN);
  fail(one, 5);
  expect(one.reports).toEqual([[{ origin: ORIGIN, ageMs: 0, unreachable: true }]]);
  const server = createServer((socket) => void socket.on('error', () => {}));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const connected = new Promise((resolve) => server.once('connection', resolve));
  port = (server.address() as AddressInfo).port;
  await connected;
  await expect.poll(() => one.connects.isOpen(ORIGIN)).toBe(false);
  expect(one.reports.at(-1)).toMatchObject([{ origin: ORIGIN, unreachable: false }]);
  expect(one.connects.openCount).toBe(0);
});

test('connect breakers: an answer to a call in flight closes the breaker', () => {
  const one = setup(() => 1);
  one.connects.isOpen(ORIGIN);
  fail(one, 5);
  one.connects.onAnswered(ORIGIN);
  one.connects.onAnswered('http://unknown.example');
  expect(one.connects.isOpen(ORIGIN)).toBe(false);
});

test('stall detector: reports a stall before and after the loop runs again', async () => {
  const stalls = new EventLoopStallDetector();
  const beforeMs = performance.now();
  expect(stalls.hasStalledSince(beforeMs)).toBe(false);
  while (performance.now() < beforeMs + 1_400);
  expect(stalls.hasStalledSince(beforeMs)).toBe(true); // the loop has not run yet
  await expect.poll(() => stalls.hasStalledSince(performance.now())).toBe(false);
  expect(stalls.hasStalledSince(beforeMs)).toBe(true);
  stalls.stop();
});

test('connect breakers: a probe from before a close and reopen is not continued', async () => {
  vi.useFakeTimers();
  const dials: (() => void)[] = [];
  const clock = { now: 1_000 };
  const connects: ConnectBreakerRegistry = new ConnectBreakerRegistry({
    dial: (_origin, done) => dials.push(() => done(new Error('refused'), null)),
    reportContacts: async () => undefined,
    hasStalledSince: () => false,
    log: createLogger('test', 'silent'),
    nowMs: () => clock.now,
    random: () => 0.5,
  });
  breakers.push(connects);
  const opens = (): void => {
    for (let i = 0; i < 6; i++) {
      clock.now += 1_000;
      connects.onDialed(ORIGIN, 0, { local: false });
    }
  };
  try {
    connects.isOpen(ORIGIN);
    opens();
    vi.advanceTimersByTime(1_000);
    expect(dials).toHaveLength(1);
    connects.onAnswered(ORIGIN);
    opens();
    dials[0]!(); // the earlier probe fails late
    vi.advanceTimersByTime(1_000);
    expect(dials).toHaveLength(2); // only the next probe
  } finally {
    vi.useRealTimers();
  }
});
