import { describe, expect, test } from 'vitest';
import type { CallTrace, FaultTrace, LedgerCall } from '../evidence/history.js';
import { checkExactlyOnce } from './exactly-once.js';
import {
  createBrokenCall,
  createCall,
  createFault,
  createLedgerCall,
  createObservation,
  createRejectedCall,
  T0,
} from './history-fixture.js';

interface Made {
  readonly calls: readonly CallTrace[];
  /** Ids of calls at the provider. */
  readonly seen: readonly string[];
  readonly booked: readonly LedgerCall[];
  readonly faults?: readonly FaultTrace[];
}

function look({ calls, seen, booked, faults = [] }: Made): string[] {
  const costNanos = booked.reduce((sum, one) => sum + one.costNanos, 0);
  const sums = { requests: booked.length, costNanos, spentNanos: costNanos };
  return checkExactlyOnce({
    calls,
    observations: seen.map((id) => createObservation(id)),
    ledgerCalls: booked,
    faults,
    sums,
  });
}

const STOPPING = 'The gateway is stopping.';
const KILLED = createFault('data-1', 'kill');

describe('exactly once: histories in which nothing is wrong', () => {
  test.each<[string, Made]>([
    ['a received answer', { calls: [createCall('a')], seen: ['a'], booked: [createLedgerCall('a')] }],
    ['a refusal', { calls: [createRejectedCall('a', 429, '')], seen: [], booked: [] }],
    [
      'a provider that could not be reached',
      { calls: [createRejectedCall('a', 502, '')], seen: [], booked: [createLedgerCall('a')] },
    ],
    [
      'a WebSocket that came too late',
      {
        calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })],
        seen: ['a'],
        booked: [createLedgerCall('a')],
      },
    ],
    [
      'the same, which never left',
      { calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: [], booked: [] },
    ],
    ['a call that never arrived', { calls: [createBrokenCall('a')], seen: [], booked: [] }],
    ['a call that broke off', { calls: [createBrokenCall('a')], seen: ['a'], booked: [createLedgerCall('a')] }],
    ['one whose data plane was killed', { calls: [createBrokenCall('a')], seen: ['a'], booked: [], faults: [KILLED] }],
    [
      'the same, booked all the same',
      { calls: [createBrokenCall('a')], seen: ['a'], booked: [createLedgerCall('a')], faults: [KILLED] },
    ],
    [
      'an idempotent one sent up twice',
      { calls: [createCall('a')], seen: ['a', 'a'], booked: [createLedgerCall('a')] },
    ],
  ])('%s', (_name, made) => {
    expect(look(made)).toEqual([]);
  });
});

describe('exactly once: histories that break it', () => {
  test.each<[string, Made, RegExp]>([
    [
      'a received answer is lost',
      { calls: [createCall('a')], seen: ['a'], booked: [] },
      /received completely and is not booked/,
    ],
    [
      'a received answer is lost with its data plane',
      { calls: [createCall('a')], seen: ['a'], booked: [], faults: [KILLED] },
      /received completely and is not booked/,
    ],
    [
      'a call that broke off is lost',
      { calls: [createBrokenCall('a')], seen: ['a'], booked: [] },
      /reached the provider and is not/,
    ],
    [
      'lost because another data plane was killed',
      { calls: [createBrokenCall('a')], seen: ['a'], booked: [], faults: [createFault('data-2', 'kill')] },
      /reached the provider and is not booked/,
    ],
    [
      'lost because its data plane was killed before',
      {
        calls: [createBrokenCall('a')],
        seen: ['a'],
        booked: [],
        faults: [createFault('data-1', 'kill', T0 - 10, T0 + 50)],
      },
      /reached the provider and is not booked/,
    ],
    [
      'lost because its data plane was frozen',
      { calls: [createBrokenCall('a')], seen: ['a'], booked: [], faults: [createFault('data-1', 'freeze')] },
      /reached the provider and is not booked/,
    ],
    [
      'a WebSocket that came too late is lost',
      { calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: ['a'], booked: [] },
      /received completely and is not booked/,
    ],
    [
      'an answer of 502 is lost',
      { calls: [createRejectedCall('a', 502, '')], seen: [], booked: [] },
      /received completely and is not booked/,
    ],
    [
      'booked twice',
      { calls: [createCall('a')], seen: ['a'], booked: [createLedgerCall('a'), createLedgerCall('a')] },
      /booked twice/,
    ],
    [
      'booked under an id that its client does not know',
      { calls: [createCall('a')], seen: ['a'], booked: [createLedgerCall('a', { recordId: 'other' })] },
      /another id/,
    ],
    [
      'a record of nothing',
      { calls: [], seen: [], booked: [{ ...createLedgerCall('a'), callId: null }] },
      /of no call that was made/,
    ],
    [
      'a refusal that is booked',
      { calls: [createRejectedCall('a', 429, '')], seen: [], booked: [createLedgerCall('a')] },
      /is booked/,
    ],
    [
      'a refusal that went to the provider',
      { calls: [createRejectedCall('a', 503, '')], seen: ['a'], booked: [] },
      /was refused with 503 and reached the provider/,
    ],
    ['a call that nobody made', { calls: [], seen: ['a'], booked: [] }, /nobody sent it/],
  ])('%s', (_name, made, expected) => {
    expect(look(made)).toEqual([expect.stringMatching(expected)]);
  });

  test.each(['requests', 'costNanos', 'spentNanos'] as const)('a sum that is not that of the records: %s', (name) => {
    const sums = { requests: 1, costNanos: 10, spentNanos: 10, [name]: 11 };
    const made = {
      calls: [createCall('a')],
      observations: [createObservation('a')],
      ledgerCalls: [createLedgerCall('a')],
      faults: [],
      sums,
    };
    expect(checkExactlyOnce(made)).toEqual([expect.stringContaining('11, the records say')]);
  });
});
