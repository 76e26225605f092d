import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Circuit,
  type CircuitInput,
  type CircuitRules,
  countsNow,
  decide,
  NEW_CIRCUIT,
  probePlaces,
  tripDue,
} from './state-machine.js';

const RULES: CircuitRules = { requestsMin: 20, errorRate: 0.5, cooldownMs: 1_000, probes: 3 };
const org = (requests: number, failures: number, succeeded = true) => ({ requests, failures, succeeded });
const newcomer = (requests: number) => org(requests, requests, false);
const failing = (count: number) => Array.from({ length: count }, () => org(10, 8));
const healthy = (count: number) => Array.from({ length: count }, () => org(10, 1));
const halfOpen: Circuit = { state: 'HALF_OPEN', epoch: 3, openUntilMs: 0, probesGood: 0 };

test.each([
  ['too few requests', [org(19, 19)], false],
  ['the rate just reached', [org(20, 10)], true],
  ['the rate just not reached', [org(20, 9)], false],
  ['nothing', [], false],
  ['one of two organizations fails', [org(5, 0), org(1000, 1000)], false],
  ['both fail', [org(5, 3), org(100, 100)], true],
  ['two of three fail', [org(10, 10), org(10, 10), org(5, 0)], true],
  ['two of three fail, and the third is big', [org(10, 10), org(10, 10), org(1000, 0)], true],
  ['two of eight fail, and are most of the requests', [org(900, 900), org(900, 900), ...healthy(6)], false],
  ['half of eight fail', [...failing(4), ...healthy(4)], true],
  ['fewer than half of nine fail', [...failing(4), ...healthy(5)], false],
  ['two newcomers fail beside six', [newcomer(100), newcomer(100), ...healthy(6)], false],
  ['any number of newcomers fail beside one', [...Array.from({ length: 20 }, () => newcomer(50)), org(9, 0)], false],
  ['newcomers fail, and nobody else asks', [newcomer(50), newcomer(50)], false],
  ['one alone fails that never had a success', [newcomer(20)], true],
  ['all fail that used it before, beside newcomers that do not', [...failing(3), org(9, 0), org(9, 0)], true],
  ['a newcomer fails beside one that hardly uses it', [newcomer(40), org(1, 0)], false],
  ['the others hardly used it', [org(4, 0), org(40, 40), org(4, 0)], true],
])('circuit: %s', (_name, counts, due) => {
  expect(tripDue(counts, RULES)).toBe(due);
});

test('circuit: opens for the cooldown, then lets probes in without waiting for a request', () => {
  const open = decide(NEW_CIRCUIT, { kind: 'counts', counts: [org(20, 20)] }, 5_000, RULES);
  expect(open).toEqual({ state: 'OPEN', epoch: 2, openUntilMs: 6_000, probesGood: 0 });
  expect(decide(open, { kind: 'clock' }, 5_999, RULES)).toBe(open);
  expect(decide(open, { kind: 'clock' }, 6_000, RULES)).toEqual(halfOpen);
});

test('circuit: closes when all probes are good, opens again at one bad, ignores other epochs', () => {
  const good: CircuitInput = { kind: 'probe', epoch: 3, good: true };
  const one = decide(halfOpen, good, 0, RULES);
  const two = decide(one, good, 0, RULES);
  expect(two).toEqual({ ...halfOpen, probesGood: 2 });
  expect(decide(two, good, 0, RULES)).toEqual({ state: 'CLOSED', epoch: 4, openUntilMs: 0, probesGood: 0 });
  const bad = decide(two, { kind: 'probe', epoch: 3, good: false }, 100, RULES);
  expect(bad).toEqual({ state: 'OPEN', epoch: 4, openUntilMs: 1_100, probesGood: 0 });
  expect(decide(two, { kind: 'probe', epoch: 1, good: false }, 100, RULES)).toBe(two);
  expect(decide(two, { kind: 'probe', epoch: 4, good: true }, 100, RULES)).toBe(two);
});

test.each([
  [NEW_CIRCUIT, 0, 0, true],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 4, 0, true],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 1, 9_000, false],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 0, 999, false],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 0, 1_000, true],
  [halfOpen, 3, 9_000, false],
])('circuit: at %o an outcome of epoch %i begun at %i counts: %s', (circuit, epoch, startedAtMs, counts) => {
  expect(countsNow(circuit, 1_000, { epoch, startedAtMs })).toBe(counts);
});

const anyInput: fc.Arbitrary<CircuitInput | { kind: 'wait'; ms: number }> = fc.oneof(
  fc.record({
    kind: fc.constant('counts' as const),
    counts: fc.array(
      fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => org(Math.max(a, b), Math.min(a, b))),
      { maxLength: 4 },
    ),
  }),
  fc.record({ kind: fc.constant('clock' as const) }),
  fc.record({ kind: fc.constant('probe' as const), epoch: fc.integer({ min: 0, max: 12 }), good: fc.boolean() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(700) }),
);
const ALLOWED = new Set(['CLOSED>OPEN', 'OPEN>HALF_OPEN', 'HALF_OPEN>OPEN', 'HALF_OPEN>CLOSED']);

test('circuit: any history keeps to the arrows, one epoch per transition, whole cooldowns, all probes', () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 80 }), (inputs) => {
      let circuit = NEW_CIRCUIT;
      let nowMs = 0;
      let enteredAtMs = 0;
      let good = 0;
      for (const input of inputs) {
        if (input.kind === 'wait') {
          nowMs += input.ms;
          continue;
        }
        const next = decide(circuit, input, nowMs, RULES);
        const counted = input.kind === 'probe' && input.epoch === circuit.epoch && circuit.state === 'HALF_OPEN';
        if (counted && input.good) good++;
        if (next.state === circuit.state) {
          expect(next.epoch).toBe(circuit.epoch);
          if (!counted) expect(next).toBe(circuit);
        } else {
          expect(ALLOWED).toContain(`${circuit.state}>${next.state}`);
          expect(next.epoch).toBe(circuit.epoch + 1);
          if (circuit.state === 'OPEN') expect(nowMs - enteredAtMs).toBeGreaterThanOrEqual(RULES.cooldownMs);
          if (next.state === 'CLOSED') expect(good).toBe(RULES.probes);
          if (next.state === 'OPEN') expect(next.openUntilMs).toBe(nowMs + RULES.cooldownMs);
          enteredAtMs = nowMs;
          good = 0;
        }
        expect(next.probesGood).toBe(next.state === 'HALF_OPEN' ? good : 0);
        circuit = next;
      }
    }),
    { numRuns: 500 },
  );
});

test('circuit: one organization alone never opens what others use without trouble', () => {
  fc.assert(
    fc.property(
      fc.nat(100_000),
      fc.array(fc.integer({ min: 5, max: 500 }), { minLength: 1, maxLength: 20 }),
      (failures, others) => {
        expect(tripDue([org(failures, failures), ...others.map((n) => org(n, 0))], RULES)).toBe(false);
      },
    ),
  );
});

test('circuit: places never exceed the probes, and only HALF_OPEN has any', () => {
  fc.assert(
    fc.property(fc.nat(3), fc.nat(10), (probesGood, leased) => {
      const places = probePlaces({ ...halfOpen, probesGood }, leased, RULES);
      expect(places).toBe(Math.max(0, RULES.probes - probesGood - leased));
      expect(probePlaces(NEW_CIRCUIT, 0, RULES)).toBe(0);
    }),
  );
});
