import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  availableProbes,
  type Circuit,
  type CircuitInput,
  type CircuitRules,
  hasFailuresInRow,
  isOfCurrentEpoch,
  NEW_CIRCUIT,
  nextCircuit,
  shouldOpen,
  summarizeWindow,
  type WindowEvidence,
} from './breaker-state-machine.js';

const RULES: CircuitRules = { requestsMin: 20, errorRate: 0.5, cooldownMs: 1_000, probes: 3 };
const halfOpen: Circuit = { state: 'HALF_OPEN', epoch: 3, openUntilMs: 0, probesGood: 0 };
/** Evidence of one agent, whose failures come last. */
const evidenceOf = (requests: number, failures: number, more: Partial<WindowEvidence> = {}): WindowEvidence => ({
  requests,
  failures,
  failuresInRow: failures,
  activeAgents: 1,
  failingAgents: failures > 0 ? 1 : 0,
  ...more,
});
const evidenceInput = (evidence: WindowEvidence, othersFail = false): CircuitInput => ({
  kind: 'evidence',
  evidence,
  othersFail,
});

test.each([
  ['does not open with too few requests', evidenceOf(19, 19), false, false],
  ['opens when the error rate is just reached', evidenceOf(20, 10), false, true],
  ['does not open just below the error rate', evidenceOf(20, 9), false, false],
  ['does not open without requests', evidenceOf(0, 0), true, false],
  ['does not open after three failures in a row while no other organization fails', evidenceOf(3, 3), false, false],
  ['opens after three failures in a row while others fail', evidenceOf(3, 3), true, true],
  ['does not open after two failures in a row while others fail', evidenceOf(2, 2), true, false],
  ['does not open with successes only while others fail', evidenceOf(1_000, 0), true, false],
  [
    'does not open if a success follows few failures',
    evidenceOf(10, 5, { failuresInRow: 0, failingAgents: 0 }),
    true,
    false,
  ],
  ['does not open if one of two agents fails', evidenceOf(9, 3, { activeAgents: 2 }), true, false],
  ['opens if both of two agents fail', evidenceOf(9, 3, { activeAgents: 2, failingAgents: 2 }), true, true],
  ['opens if the agents are unknown', evidenceOf(3, 3, { activeAgents: 0, failingAgents: 0 }), true, true],
])('breaker: %s', (_name, evidence, othersFail, opens) => {
  expect(shouldOpen(evidence, RULES, othersFail)).toBe(opens);
});

const second = (secondMs: number, requests: number, failures: number, ...agents: string[]) => ({
  secondMs,
  requests,
  failures,
  agents,
});

test('breaker: the evidence is the sum of the window and the failures since the last second with a success', () => {
  const counts = [second(3_000, 2, 2, 'b'), second(1_000, 4, 1, 'a'), second(2_000, 1, 1, 'a'), second(0, 9, 9, 'a')];
  expect(summarizeWindow(counts)).toEqual({
    requests: 16,
    failures: 13,
    failuresInRow: 3,
    activeAgents: 2,
    failingAgents: 2,
  });
  // Another control plane has counted a success in the last of these seconds.
  expect(hasFailuresInRow(summarizeWindow([...counts, second(3_000, 1, 0, 'c')]))).toBe(false);
});

test('breaker: opening always needs three own failures, whatever other organizations see', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(30), fc.nat(5), fc.nat(5), fc.constantFrom('a', 'b')), { maxLength: 20 }),
      fc.boolean(),
      (rows, othersFail) => {
        const counts = rows.map(([at, good, bad, agent]) => second(at * 1_000, good + bad, bad, agent));
        const evidence = summarizeWindow(counts);
        if (!shouldOpen(evidence, RULES, othersFail)) return;
        expect(evidence.failures).toBeGreaterThanOrEqual(3);
        const last = Math.max(...counts.filter((c) => c.requests > 0).map((c) => c.secondMs));
        const goodLast = counts.some((c) => c.secondMs === last && c.requests > c.failures);
        if (goodLast) expect(evidence.failures / evidence.requests).toBeGreaterThanOrEqual(RULES.errorRate);
      },
    ),
  );
});

test('breaker: opens for 1 to 1.5 cooldowns, then becomes half-open without waiting for a request', () => {
  const open = nextCircuit(NEW_CIRCUIT, evidenceInput(evidenceOf(20, 20)), 5_000, RULES, () => 0);
  expect(open).toEqual({ state: 'OPEN', epoch: 2, openUntilMs: 6_000, probesGood: 0 });
  expect(nextCircuit(NEW_CIRCUIT, evidenceInput(evidenceOf(20, 20)), 5_000, RULES, () => 1).openUntilMs).toBe(6_500);
  expect(nextCircuit(open, { kind: 'clock' }, 5_999, RULES)).toBe(open);
  expect(nextCircuit(open, { kind: 'clock' }, 6_000, RULES)).toEqual(halfOpen);
});

test('breaker: closes after all probes succeeded, reopens after one failed, and ignores other epochs', () => {
  const good: CircuitInput = { kind: 'probe', epoch: 3, good: true };
  const one = nextCircuit(halfOpen, good, 0, RULES);
  const two = nextCircuit(one, good, 0, RULES);
  expect(two).toEqual({ ...halfOpen, probesGood: 2 });
  expect(nextCircuit(two, good, 0, RULES)).toEqual({ state: 'CLOSED', epoch: 4, openUntilMs: 0, probesGood: 0 });
  const bad = nextCircuit(two, { kind: 'probe', epoch: 3, good: false }, 100, RULES, () => 0);
  expect(bad).toEqual({ state: 'OPEN', epoch: 4, openUntilMs: 1_100, probesGood: 0 });
  expect(nextCircuit(two, { kind: 'probe', epoch: 1, good: false }, 100, RULES)).toBe(two);
  expect(nextCircuit(two, { kind: 'probe', epoch: 4, good: true }, 100, RULES)).toBe(two);
});

test('breaker: an administrator can close it in any state or hold it open until a time', () => {
  const held = nextCircuit(NEW_CIRCUIT, { kind: 'hold', untilMs: 90_000 }, 5, RULES);
  expect(held).toEqual({ state: 'OPEN', epoch: 2, openUntilMs: 90_000, probesGood: 0 });
  expect(nextCircuit(held, { kind: 'clock' }, 89_999, RULES)).toBe(held);
  expect(nextCircuit(held, { kind: 'clock' }, 90_000, RULES).state).toBe('HALF_OPEN');
  expect(nextCircuit(held, { kind: 'hold', untilMs: 50 }, 5, RULES)).toMatchObject({ epoch: 3, openUntilMs: 50 });
  for (const from of [held, halfOpen]) {
    const closed = { state: 'CLOSED', epoch: from.epoch + 1, openUntilMs: 0, probesGood: 0 };
    expect(nextCircuit(from, { kind: 'close' }, 0, RULES)).toEqual(closed);
  }
  expect(nextCircuit(NEW_CIRCUIT, { kind: 'close' }, 0, RULES)).toBe(NEW_CIRCUIT);
});

test.each([
  [NEW_CIRCUIT, 0, 0, true],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 4, 0, true],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 1, 9_000, false],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 0, 999, false],
  [{ ...NEW_CIRCUIT, epoch: 4 }, 0, 1_000, true],
  [halfOpen, 3, 9_000, false],
])('breaker: in %o an outcome of epoch %i that began at %i counts: %s', (circuit, epoch, startedAtMs, counts) => {
  expect(isOfCurrentEpoch(circuit, 1_000, { epoch, startedAtMs })).toBe(counts);
});

const anyInput: fc.Arbitrary<CircuitInput | { kind: 'wait'; ms: number }> = fc.oneof(
  fc.record({
    kind: fc.constant('evidence' as const),
    evidence: fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => evidenceOf(Math.max(a, b), Math.min(a, b))),
    othersFail: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('clock' as const) }),
  fc.record({ kind: fc.constant('probe' as const), epoch: fc.integer({ min: 0, max: 12 }), good: fc.boolean() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(700) }),
);
const ALLOWED = new Set(['CLOSED>OPEN', 'OPEN>HALF_OPEN', 'HALF_OPEN>OPEN', 'HALF_OPEN>CLOSED']);

test('breaker: any history uses only allowed transitions, one epoch each, full cooldowns and all probes', () => {
  fc.assert(
    fc.property(fc.array(anyInput, { maxLength: 80 }), fc.double({ min: 0, max: 1, noNaN: true }), (inputs, jitter) => {
      let circuit = NEW_CIRCUIT;
      let nowMs = 0;
      let enteredAtMs = 0;
      let good = 0;
      for (const step of inputs) {
        if (step.kind === 'wait') {
          nowMs += step.ms;
          continue;
        }
        const next = nextCircuit(circuit, step, nowMs, RULES, () => jitter);
        const counted = step.kind === 'probe' && step.epoch === circuit.epoch && circuit.state === 'HALF_OPEN';
        if (counted && step.good) good++;
        if (next.state === circuit.state) {
          expect(next.epoch).toBe(circuit.epoch);
          if (!counted) expect(next).toBe(circuit);
        } else {
          expect(ALLOWED).toContain(`${circuit.state}>${next.state}`);
          expect(next.epoch).toBe(circuit.epoch + 1);
          if (circuit.state === 'OPEN') expect(nowMs - enteredAtMs).toBeGreaterThanOrEqual(RULES.cooldownMs);
          if (next.state === 'CLOSED') expect(good).toBe(RULES.probes);
          if (next.state === 'OPEN') {
            expect(next.openUntilMs).toBeGreaterThanOrEqual(nowMs + RULES.cooldownMs);
            expect(next.openUntilMs).toBeLessThanOrEqual(nowMs + RULES.cooldownMs * 1.5);
          }
          enteredAtMs = nowMs;
          good = 0;
        }
        expect(next.probesGood).toBe(next.state === 'HALF_OPEN' ? good : 0);
        circuit = next;
      }
    }),
  );
});

test('breaker: available probes never exceed the limit, and only HALF_OPEN has any', () => {
  fc.assert(
    fc.property(fc.nat(3), fc.nat(10), (probesGood, leased) => {
      const available = availableProbes({ ...halfOpen, probesGood }, leased, RULES);
      expect(available).toBe(Math.max(0, RULES.probes - probesGood - leased));
      expect(availableProbes(NEW_CIRCUIT, 0, RULES)).toBe(0);
    }),
  );
});
