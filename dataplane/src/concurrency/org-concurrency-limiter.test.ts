import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FREE_RATIO, OrgConcurrencyLimiter, type SlotHolder } from './org-concurrency-limiter.js';

/**
 * Organizations that acquire and release slots. Nothing is acquired beyond `max`, because the listener rejects such
 * calls.
 */
class Scene {
  readonly #shares: OrgConcurrencyLimiter;
  readonly #held = new Map<string, SlotHolder[]>();
  total = 0;

  constructor(
    readonly perOrg: number,
    readonly max: number,
  ) {
    this.#shares = new OrgConcurrencyLimiter(perOrg, max);
  }

  get free(): number {
    return this.max - this.total;
  }

  held(orgId: string): number {
    return this.#held.get(orgId)?.length ?? 0;
  }

  take(orgId: string): boolean {
    if (this.free === 0) return false;
    const x: SlotHolder = { slot: null };
    if (!this.#shares.tryAcquire(x, orgId, this.total + 1)) return false;
    this.total++;
    this.#held.set(orgId, [...(this.#held.get(orgId) ?? []), x]);
    return true;
  }

  /** How many of `count` attempts get a slot. */
  times(count: number, orgId: string): number {
    let got = 0;
    for (let i = 0; i < count; i++) if (this.take(orgId)) got++;
    return got;
  }

  give(orgId: string, count = 1): void {
    for (const x of this.#held.get(orgId)?.splice(0, count) ?? []) {
      this.#shares.release(x);
      this.total--;
    }
  }
}

test('org limiter: a single organization gets all slots but one eighth', () => {
  expect(new Scene(10_000, 10_000).times(20_000, 'a')).toBe(8_750);
  expect(new Scene(160, 160).times(200, 'a')).toBe(140);
  expect(new Scene(7, 7).times(20, 'a')).toBe(7);
  expect(new Scene(25, 10_000).times(20_000, 'a')).toBe(25); // the operator's maximum for each organization
});

test('org limiter: newcomers start at once beside an organization at its limit and catch up as its calls end', () => {
  const scene = new Scene(100, 100);
  expect(scene.times(100, 'a')).toBe(88);
  expect(scene.times(100, 'b')).toBe(11);
  for (let round = 0; round < 20; round++) {
    scene.give('a', 2);
    scene.take('a');
    scene.take('b');
    scene.take('c');
  }
  expect(['a', 'b', 'c'].map((org) => scene.held(org))).toEqual([48, 29, 20]); // and three slots are free
});

test('org limiter: a newcomer gets a slot beside any number of greedy organizations', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (greedy) => {
      const max = 2_000;
      const scene = new Scene(max, max);
      for (let i = 0; i < max; i++) for (let org = 0; org < greedy; org++) scene.take(`org-${org}`);
      expect(scene.free).toBeGreaterThanOrEqual(Math.floor(max / (1 + greedy * FREE_RATIO)));
      expect(scene.take('newcomer')).toBe(true);
    }),
  );
});

type Step = { readonly org: number; readonly take: boolean; readonly times: number };

const steps = fc.array(
  fc.record<Step>({ org: fc.nat(4), take: fc.boolean(), times: fc.integer({ min: 1, max: 60 }) }),
  { maxLength: 60 },
);

test('org limiter: an organization without slots gets one, and one with fewer slots is not rejected before others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 1, max: 200 }), steps, (perOrg, max, all) => {
      const scene = new Scene(perOrg, max);
      for (const { org, take, times } of all) {
        const orgId = `org-${org}`;
        if (take) scene.times(times, orgId);
        else scene.give(orgId, times);
      }
      if (scene.free === 0) return;
      const ids = Array.from({ length: 6 }, (_, org) => `org-${org}`).sort((a, b) => scene.held(a) - scene.held(b));
      const letIn = ids.map((id) => {
        const got = scene.take(id);
        if (got) scene.give(id);
        return got;
      });
      expect(letIn[0]).toBe(true); // org-5 never had a slot
      if (letIn.includes(false)) expect(letIn.slice(letIn.indexOf(false))).not.toContain(true);
    }),
  );
});

test('org limiter: all released slots are available again', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const scene = new Scene(64, 64);
      for (const { org, take, times } of all) {
        if (take) scene.times(times, `org-${org}`);
        else scene.give(`org-${org}`, times);
      }
      for (let org = 0; org < 5; org++) scene.give(`org-${org}`, 64);
      expect(scene.total).toBe(0);
      expect(scene.times(100, 'org-0')).toBe(56);
    }),
  );
});

test('org limiter: releasing a slot twice counts once', () => {
  const shares = new OrgConcurrencyLimiter(2, 100);
  const [x, y, z]: SlotHolder[] = [{ slot: null }, { slot: null }, { slot: null }];
  expect(shares.tryAcquire(x!, 'a', 1)).toBe(true);
  expect(shares.tryAcquire(y!, 'a', 2)).toBe(true);
  expect(shares.tryAcquire(z!, 'a', 3)).toBe(false);
  shares.release(x!);
  shares.release(x!);
  expect(shares.tryAcquire(z!, 'a', 2)).toBe(true);
  expect(shares.tryAcquire(x!, 'a', 3)).toBe(false);
});

test('org limiter: an organization without calls in flight uses no memory', () => {
  const shares = new OrgConcurrencyLimiter(2, 100);
  const [x, y]: SlotHolder[] = [{ slot: null }, { slot: null }];
  shares.tryAcquire(x!, 'a', 1);
  shares.tryAcquire(y!, 'a', 2);
  expect(y!.slot).toBe(x!.slot);
  const first = x!.slot;
  shares.release(x!);
  shares.release(y!);
  shares.tryAcquire(x!, 'a', 1);
  expect(x!.slot).not.toBe(first); // it was removed and created again
});
