import { expect, test } from 'vitest';
import { type ObservedOutcome, PendingOutcomes } from './pending-outcomes.js';

const NOW_MS = 1_800_000_000_500;
const [SUCCESS, FAILURE] = [1, 2];
const ORG = '00000000-0000-7000-8000-000000000001';
const OTHER = '00000000-0000-7000-8000-000000000002';

const outcome = (changes: Partial<ObservedOutcome> = {}): ObservedOutcome => ({
  circuitKey: `openai|https://api.openai.com|${ORG}`,
  circuitEpoch: 1,
  circuitOutcome: SUCCESS,
  probeLease: '',
  orgId: ORG,
  agentId: 'agent-1',
  startedAtMs: NOW_MS - 20,
  durationMs: 10,
  ...changes,
});

/** Counts of these outcomes after one call at {@link NOW_MS}. */
function countsOf(records: readonly ObservedOutcome[]) {
  const pending = new PendingOutcomes();
  pending.add(records, NOW_MS);
  return pending.drainCounts('all').map(({ startedAtMs: _, ...count }) => count);
}

test('pending outcomes: sums outcomes of the same breaker, epoch and second in any order', () => {
  const changed = (changes: Partial<ObservedOutcome>) => outcome(changes);
  const records = [
    changed({}),
    changed({ circuitEpoch: 2, circuitOutcome: FAILURE }),
    changed({ circuitEpoch: 2 }),
    changed({ orgId: OTHER, circuitKey: `openai|https://api.openai.com|${OTHER}` }),
    changed({ circuitKey: `anthropic|https://api.anthropic.com|${ORG}` }),
    changed({ startedAtMs: NOW_MS - 1_020 }),
    changed({ circuitOutcome: FAILURE }),
  ];
  const one = {
    circuitKey: `openai|https://api.openai.com|${ORG}`,
    epoch: 1,
    orgId: ORG,
    secondMs: NOW_MS - 500,
    requests: 1,
    failures: 0,
    agents: ['agent-1'],
  };
  expect(countsOf(records)).toEqual([
    { ...one, requests: 2, failures: 1 },
    { ...one, epoch: 2, requests: 2, failures: 1 },
    { ...one, orgId: OTHER, circuitKey: `openai|https://api.openai.com|${OTHER}` },
    { ...one, circuitKey: `anthropic|https://api.anthropic.com|${ORG}` },
    { ...one, secondMs: NOW_MS - 1_500 },
  ]);
});

test('pending outcomes: a record with the shared breaker counts for its own organization, one with the breaker of another organization is ignored', () => {
  const [count, ...others] = countsOf([
    outcome({ circuitKey: 'openai|https://api.openai.com', circuitEpoch: 7, circuitOutcome: FAILURE }),
    outcome({ circuitKey: `openai|https://api.openai.com|${OTHER}` }),
    outcome({ circuitKey: 'no key' }),
  ]);
  expect(count).toMatchObject({ circuitKey: `openai|https://api.openai.com|${ORG}`, epoch: 0, failures: 1 });
  expect(others).toEqual([]);
});

test('pending outcomes: names at most two agents of a second', () => {
  const [count] = countsOf(['a', 'a', 'b', 'c'].map((agentId) => outcome({ agentId })));
  expect(count!.agents).toEqual(['a', 'b']);
});

test('pending outcomes: a data plane clock that runs ahead counts no outcome in the future', () => {
  const [count] = countsOf([outcome({ startedAtMs: NOW_MS + 3_600_000 })]);
  expect(count!.secondMs).toBe(NOW_MS - 500);
});
