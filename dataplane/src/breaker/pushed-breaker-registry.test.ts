import { expect, test } from 'vitest';
import { type ProbeClient, PushedBreakerRegistry } from './pushed-breaker-registry.js';

interface Setup {
  readonly registry: PushedBreakerRegistry;
  /** `cut`: this process cannot connect to the origin. */
  readonly clock: { now: number; up: boolean; cut: boolean };
  /** Origins that have answered a call. */
  readonly answered: string[];
  readonly releasedLeases: string[];
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
  const registry = new PushedBreakerRegistry(
    office,
    { nowMs: () => clock.now, isLinkUp: () => clock.up },
    { isOpen: () => clock.cut, onAnswered: (origin) => void answered.push(origin) },
  );
  return { registry, clock, answered, releasedLeases: released, good };
}

const own = (circuitKey: string, fleetKey = '') => ({ circuitKey, fleetKey, origin: 'https://a.example' });
const noLease: ProbeClient['acquire'] = async () => ({ lease: null, state: null });
const unreachable: ProbeClient['acquire'] = () => Promise.reject(new Error('away'));
const probe = (registry: PushedBreakerRegistry): Promise<string | null> =>
  new Promise((resolve) => registry.acquireProbe('a', 3, resolve));

test('breaker registry: a breaker without any update is closed', () => {
  expect(setup(noLease).registry.getStatus(own('a'))).toBeNull();
});

test('breaker registry: ignores an update with an older epoch', () => {
  const { registry } = setup(noLease);
  registry.update({ circuitKey: 'a', state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
  registry.update({ circuitKey: 'a', state: 'CLOSED', epoch: 2 });
  expect(registry.getStatus(own('a'))).toMatchObject({ state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
});

test('breaker registry: after a reconnection, breakers that are not listed are closed', () => {
  const { registry } = setup(noLease);
  registry.update({ circuitKey: 'a', state: 'OPEN', epoch: 3 });
  registry.update({ circuitKey: 'b', state: 'OPEN', epoch: 5 });
  registry.update({ circuitKey: 'c', state: 'CLOSED', epoch: 4 });
  registry.replaceAll([{ circuitKey: 'b', state: 'HALF_OPEN', epoch: 6 }]);
  expect(registry.getStatus(own('a'))).toBeNull();
  expect(registry.getStatus(own('c'))).toBeNull();
  expect(registry.getStatus(own('b'))?.state).toBe('HALF_OPEN');
  expect(registry.countByState()).toEqual({ CLOSED: 0, HALF_OPEN: 1, OPEN: 0 });
});

test('breaker registry: a rejected probe lease updates the state', async () => {
  const { registry } = setup(async () => ({ lease: null, state: { circuitKey: 'a', state: 'CLOSED', epoch: 4 } }));
  registry.update({ circuitKey: 'a', state: 'HALF_OPEN', epoch: 3 });
  expect(await probe(registry)).toBeNull();
  expect(registry.getStatus(own('a'))).toMatchObject({ state: 'CLOSED', epoch: 4, openUntilMs: 0 });
});

test('breaker registry: without a control plane, one call a second probes a breaker after its cooldown', async () => {
  const { registry, clock, releasedLeases: released, good } = setup(unreachable);
  registry.update({ circuitKey: 'a', state: 'OPEN', epoch: 3, openUntilMs: 1_030_000 });
  clock.now = 1_040_000;
  expect(registry.getStatus(own('a'))?.state).toBe('OPEN'); // the control plane is connected, so its state applies
  clock.up = false;
  clock.now = 1_031_999; // its HALF_OPEN may still arrive
  expect(registry.getStatus(own('a'))?.state).toBe('OPEN');
  clock.now = 1_040_000;
  expect(registry.getStatus(own('a'))?.state).toBe('HALF_OPEN');
  expect(await probe(registry)).toBe('');
  expect(await probe(registry)).toBeNull();
  clock.now += 1_000;
  expect(await probe(registry)).toBe('');
  registry.releaseProbe('a', '');
  registry.reportProbeSuccess('a', 3, '');
  expect([released, good]).toEqual([[], []]);
});

test('breaker registry: releases a lease and reports a success to the control plane', async () => {
  const { registry, releasedLeases: released, good } = setup(async () => ({ lease: 'l-1', state: null }));
  const lease = await probe(registry);
  registry.releaseProbe('a', lease!);
  expect(released).toEqual(['l-1']);
  registry.reportProbeSuccess('a', 3, lease!);
  expect(good).toEqual([['a', 3, 'l-1']]);
});

test('breaker registry: forgets a breaker a day after it closed, so a new one with its key may start at a lower epoch', () => {
  const { registry, clock } = setup(noLease);
  registry.update({ circuitKey: 'a', state: 'CLOSED', epoch: 4 });
  registry.update({ circuitKey: 'b', state: 'HALF_OPEN', epoch: 3 });
  registry.update({ circuitKey: 'c', state: 'CLOSED', epoch: 4 });
  clock.now += 86_400_000 - 1;
  expect(registry.getStatus(own('a'))?.epoch).toBe(4);
  clock.now += 1;
  expect(registry.getStatus(own('a'))).toBeNull();
  expect(registry.getStatus(own('b'))?.epoch).toBe(3); // a state other than CLOSED holds until the control plane changes it
  // Also when no call has read it since.
  registry.update({ circuitKey: 'c', state: 'OPEN', epoch: 2, openUntilMs: clock.now + 1 });
  expect(registry.getStatus(own('c'))).toMatchObject({ state: 'OPEN', epoch: 2 });
});

test('breaker registry: an open fleet breaker applies to every organization', () => {
  const { registry, clock } = setup(noLease);
  registry.update({ circuitKey: 'fleet', state: 'OPEN', epoch: 2 });
  expect(registry.getStatus(own('a', 'fleet'))?.state).toBe('OPEN');
  expect(registry.getStatus(own('a'))).toBeNull(); // a tenant's address has no fleet breaker
  clock.up = false; // without the control plane, the fleet breaker's last state does not apply
  expect(registry.getStatus(own('a', 'fleet'))).toBeNull();
  registry.update({ circuitKey: 'fleet', state: 'OPEN', epoch: 3, openUntilMs: clock.now + 10 });
  expect(registry.getStatus(own('a', 'fleet'))?.state).toBe('OPEN'); // an override by an operator
  clock.now += 10;
  expect(registry.getStatus(own('a', 'fleet'))).toBeNull();
});

test('breaker registry: an open connect breaker rejects calls unless an operator overrides it', () => {
  const { registry, clock, answered } = setup(noLease);
  registry.update({ circuitKey: 'a', state: 'HALF_OPEN', epoch: 3 });
  clock.cut = true;
  expect(registry.getStatus(own('a', 'fleet'))).toMatchObject({ state: 'OPEN', openUntilMs: 0 });
  expect(registry.getStatus(own('a'))?.state).toBe('HALF_OPEN'); // no connect breaker for a tenant's address
  registry.update({ circuitKey: 'fleet', state: 'CLOSED', epoch: 2, openUntilMs: clock.now + 10 });
  expect(registry.getStatus(own('a', 'fleet'))?.state).toBe('HALF_OPEN');
  clock.now += 10;
  expect(registry.getStatus(own('a', 'fleet'))?.state).toBe('OPEN');
  registry.onUpstreamAnswered(own('a', 'fleet'));
  registry.onUpstreamAnswered(own('a'));
  expect(answered).toEqual(['https://a.example']);
});
