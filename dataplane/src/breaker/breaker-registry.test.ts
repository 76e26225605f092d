import { expect, test } from 'vitest';
import { BreakerRegistry, type ProbeClient } from './breaker-registry.js';

interface Setup {
  readonly board: BreakerRegistry;
  /** `cut`: this process cannot connect. */
  readonly clock: { now: number; up: boolean; cut: boolean };
  /** Origins that have answered. */
  readonly answered: string[];
  readonly released: string[];
  readonly good: [string, number, string][];
}

function setup(acquire: ProbeClient['acquire']): Setup {
  const clock = { now: 1_000_000, up: true, cut: false };
  const answered: string[] = [];
  const released: string[] = [];
  const good: [string, number, string][] = [];
  const office: ProbeClient = {
    acquire,
    release: (_key, lease) => void released.push(lease),
    reportSuccess: (...probe) => void good.push(probe),
  };
  const board = new BreakerRegistry(
    office,
    { nowMs: () => clock.now, isLinkUp: () => clock.up },
    { isOpen: () => clock.cut, onAnswered: (origin) => void answered.push(origin) },
  );
  return { board, clock, answered, released, good };
}

const own = (circuitKey: string, fleetKey = '') => ({ circuitKey, fleetKey, origin: 'https://a.example' });
const none: ProbeClient['acquire'] = async () => ({ lease: null, state: null });
const away: ProbeClient['acquire'] = () => Promise.reject(new Error('away'));
const probe = (board: BreakerRegistry): Promise<string | null> =>
  new Promise((resolve) => board.acquireProbe('a', 3, resolve));

test('circuit board: what was never heard of is closed', () => {
  expect(setup(none).board.getStatus(own('a'))).toBeNull();
});

test('circuit board: an update older than what is known is ignored', () => {
  const { board } = setup(none);
  board.update({ circuitKey: 'a', state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
  board.update({ circuitKey: 'a', state: 'CLOSED', epoch: 2 });
  expect(board.getStatus(own('a'))).toMatchObject({ state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
});

test('circuit board: after a reconnection, what is not named is closed', () => {
  const { board } = setup(none);
  board.update({ circuitKey: 'a', state: 'OPEN', epoch: 3 });
  board.update({ circuitKey: 'b', state: 'OPEN', epoch: 5 });
  board.update({ circuitKey: 'c', state: 'CLOSED', epoch: 4 });
  board.replaceAll([{ circuitKey: 'b', state: 'HALF_OPEN', epoch: 6 }]);
  expect(board.getStatus(own('a'))).toBeNull();
  expect(board.getStatus(own('c'))).toBeNull();
  expect(board.getStatus(own('b'))?.state).toBe('HALF_OPEN');
  expect(board.countByState()).toEqual({ CLOSED: 0, HALF_OPEN: 1, OPEN: 0 });
});

test('circuit board: a refused probe brings the current state with it', async () => {
  const { board } = setup(async () => ({ lease: null, state: { circuitKey: 'a', state: 'CLOSED', epoch: 4 } }));
  board.update({ circuitKey: 'a', state: 'HALF_OPEN', epoch: 3 });
  expect(await probe(board)).toBeNull();
  expect(board.getStatus(own('a'))).toMatchObject({ state: 'CLOSED', epoch: 4, openUntilMs: 0 });
});

test('circuit board: without a control plane one call a second tries an overdue circuit', async () => {
  const { board, clock, released, good } = setup(away);
  board.update({ circuitKey: 'a', state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
  clock.now = 1_040_000;
  expect(board.getStatus(own('a'))?.state).toBe('OPEN'); // the control plane is there: its word counts
  clock.up = false;
  clock.now = 1_031_999; // its HALF_OPEN may be on its way
  expect(board.getStatus(own('a'))?.state).toBe('OPEN');
  clock.now = 1_040_000;
  expect(board.getStatus(own('a'))?.state).toBe('HALF_OPEN');
  expect(await probe(board)).toBe('');
  expect(await probe(board)).toBeNull();
  clock.now += 1_000;
  expect(await probe(board)).toBe('');
  board.releaseProbe('a', '');
  board.reportProbeSuccess('a', 3, '');
  expect([released, good]).toEqual([[], []]);
});

test('circuit board: a lease goes back to the office, and so does a success', async () => {
  const { board, released, good } = setup(async () => ({ lease: 'l-1', state: null }));
  const lease = await probe(board);
  board.releaseProbe('a', lease!);
  expect(released).toEqual(['l-1']);
  board.reportProbeSuccess('a', 3, lease!);
  expect(good).toEqual([['a', 3, 'l-1']]);
});

test('circuit board: one that closed a day ago is forgotten, so a new one of its name may begin at its first epoch', () => {
  const { board, clock } = setup(none);
  board.update({ circuitKey: 'a', state: 'CLOSED', epoch: 4 });
  board.update({ circuitKey: 'b', state: 'HALF_OPEN', epoch: 3 });
  board.update({ circuitKey: 'c', state: 'CLOSED', epoch: 4 });
  clock.now += 86_400_000 - 1;
  expect(board.getStatus(own('a'))?.epoch).toBe(4);
  clock.now += 1;
  expect(board.getStatus(own('a'))).toBeNull();
  expect(board.getStatus(own('b'))?.epoch).toBe(3); // whatever is not CLOSED holds until the control plane says otherwise
  // … also where nobody has asked for it since.
  board.update({ circuitKey: 'c', state: 'OPEN', epoch: 2, openUntilMs: clock.now + 1 });
  expect(board.getStatus(own('c'))).toMatchObject({ state: 'OPEN', epoch: 2 });
});

test('circuit board: the fleet’s breaker refuses calls of every organization', () => {
  const { board, clock } = setup(none);
  board.update({ circuitKey: 'fleet', state: 'OPEN', epoch: 2 });
  expect(board.getStatus(own('a', 'fleet'))?.state).toBe('OPEN');
  expect(board.getStatus(own('a'))).toBeNull(); // an address of a tenant's
  clock.up = false; // without the control plane, the fleet's last state no longer counts
  expect(board.getStatus(own('a', 'fleet'))).toBeNull();
  board.update({ circuitKey: 'fleet', state: 'OPEN', epoch: 3, openUntilMs: clock.now + 10 });
  expect(board.getStatus(own('a', 'fleet'))?.state).toBe('OPEN'); // an operator holds it
  clock.now += 10;
  expect(board.getStatus(own('a', 'fleet'))).toBeNull();
});

test('circuit board: where this process cannot connect calls are refused, unless an operator lets them pass', () => {
  const { board, clock, answered } = setup(none);
  board.update({ circuitKey: 'a', state: 'HALF_OPEN', epoch: 3 });
  clock.cut = true;
  expect(board.getStatus(own('a', 'fleet'))).toMatchObject({ state: 'OPEN', openUntilMs: 0 });
  expect(board.getStatus(own('a'))?.state).toBe('HALF_OPEN'); // no connect breaker for a tenant's address
  board.update({ circuitKey: 'fleet', state: 'CLOSED', epoch: 2, openUntilMs: clock.now + 10 });
  expect(board.getStatus(own('a', 'fleet'))?.state).toBe('HALF_OPEN');
  clock.now += 10;
  expect(board.getStatus(own('a', 'fleet'))?.state).toBe('OPEN');
  board.onUpstreamAnswered(own('a', 'fleet'));
  board.onUpstreamAnswered(own('a'));
  expect(answered).toEqual(['https://a.example']);
});
