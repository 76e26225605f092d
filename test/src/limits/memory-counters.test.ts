import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import { expect, test } from 'vitest';
import { describeBudgetRowsContract } from './budget-rows-conformance.js';
import { type CountersUnderTest, describeCountersContract } from './counters-conformance.js';
import { admit } from './counters-fixture.js';

let nowUs = Date.UTC(2026, 10, 21, 12) * 1000;
const subject: CountersUnderTest = {
  open: async (windows) => new MemoryCounters(() => nowUs, windows),
  advance: async (ms) => {
    nowUs += ms * 1000;
  },
  nowMs: async () => nowUs / 1000,
};

describeCountersContract('memory', () => subject);
describeBudgetRowsContract('memory', () => subject);

test('memory is bounded: calls of new runs with several rows leave no expired spend behind', async () => {
  let us = nowUs;
  const counters = new MemoryCounters(() => us);
  let trackedMax = 0;
  for (let i = 0; i < 500; i++) {
    us += 60_000_000;
    const budgets = Array.from({ length: 6 }, (_, n) =>
      createTestBudget({
        id: `${i}-${n}`,
        scope: 'run',
        scopeId: `${i}-${n}`,
        window: 'total',
        limitNanos: 100,
        keptUntilSec: us / 1_000_000 + 60,
      }),
    );
    await admit(counters, { limits: createTestLimits({ budgets }), providerSlug: 'openai', reservationNanos: 0 });
    trackedMax = Math.max(trackedMax, counters.trackedCount);
  }
  expect(trackedMax).toBeLessThan(100);
});

test('memory is bounded: runs that ended long before their time leave no spend behind', async () => {
  let us = nowUs;
  const counters = new MemoryCounters(() => us);
  let trackedMax = 0;
  for (let i = 0; i < 500; i++) {
    us += 1_000_000;
    const id = `early-${i}`;
    const run = createTestBudget({
      id,
      scope: 'run',
      scopeId: id,
      window: 'total',
      limitNanos: 100,
      keptUntilSec: 4e9,
    });
    const limits = createTestLimits({ budgets: [run] });
    await admit(counters, { limits, providerSlug: 'openai', reservationNanos: 0 });
    counters.endRun(id);
    trackedMax = Math.max(trackedMax, counters.trackedCount);
  }
  expect(trackedMax).toBeLessThan(200);
});
