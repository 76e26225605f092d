import { MemoryCounters } from '@acg/dataplane/counters/memory-counters';
import { describeCounters, type Subject } from './counters-conformance.js';

let nowUs = Date.UTC(2026, 10, 21, 12) * 1000;
const subject: Subject = {
  open: async (windows) => new MemoryCounters(() => nowUs, windows),
  advance: async (ms) => {
    nowUs += ms * 1000;
  },
  nowMs: async () => nowUs / 1000,
};

describeCounters('memory', () => subject);
