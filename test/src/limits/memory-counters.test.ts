import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { describeBudgetRowsContract } from './budget-rows-conformance.js';
import { type CountersUnderTest, describeCountersContract } from './counters-conformance.js';

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
