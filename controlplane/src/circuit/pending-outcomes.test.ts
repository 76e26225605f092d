import { expect, test } from 'vitest';
import { type ObservedOutcome, PendingOutcomes } from './pending-outcomes.js';

const NOW_MS = 1_800_000_000_500;
const [SUCCESS, FAILURE] = [1, 2];

const outcome = (changes: Partial<ObservedOutcome> = {}): ObservedOutcome => ({
  circuitKey: 'openai',
  circuitEpoch: 1,
  circuitOutcome: SUCCESS,
  probeLease: '',
  orgId: 'org-1',
  startedAtMs: NOW_MS - 20,
  durationMs: 10,
  ...changes,
});

/** What comes of the outcomes, seen at {@link NOW_MS}, in one call. */
function countsOf(records: readonly ObservedOutcome[]) {
  const pending = new PendingOutcomes();
  pending.add(records, NOW_MS);
  return pending.takeCounts('all').map(({ startedAtMs: _, ...count }) => count);
}

test('pending outcomes: those of one circuit, epoch, organization and second add up, whatever came between', () => {
  const of = (changes: Partial<ObservedOutcome>) => outcome(changes);
  const records = [
    of({}),
    of({ circuitEpoch: 2, circuitOutcome: FAILURE }),
    of({ circuitEpoch: 2 }),
    of({ orgId: 'org-2' }),
    of({ circuitKey: 'anthropic' }),
    of({ startedAtMs: NOW_MS - 1_020 }),
    of({ circuitOutcome: FAILURE }),
  ];
  const one = { circuitKey: 'openai', epoch: 1, orgId: 'org-1', secondMs: NOW_MS - 500, requests: 1, failures: 0 };
  expect(countsOf(records)).toEqual([
    { ...one, requests: 2, failures: 1 },
    { ...one, epoch: 2, requests: 2, failures: 1 },
    { ...one, orgId: 'org-2' },
    { ...one, circuitKey: 'anthropic' },
    { ...one, secondMs: NOW_MS - 1_500 },
  ]);
});

test('pending outcomes: a clock that runs ahead does not reach into the future', () => {
  const [count] = countsOf([outcome({ startedAtMs: NOW_MS + 3_600_000 })]);
  expect(count!.secondMs).toBe(NOW_MS - 500);
});
