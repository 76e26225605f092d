import { describe, expect, test } from 'vitest';
import type { CallTrace, FaultTrace, LedgerCall } from '../evidence/evidence-types.js';
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

interface History {
  readonly calls: readonly CallTrace[];
  /** Ids of the calls that the provider received. */
  readonly seen: readonly string[];
  readonly ledgerCalls: readonly LedgerCall[];
  readonly faults?: readonly FaultTrace[];
}

function check({ calls, seen, ledgerCalls, faults = [] }: History): string[] {
  const costNanos = ledgerCalls.reduce((sum, one) => sum + one.costNanos, 0);
  const sums = { requests: ledgerCalls.length, costNanos, spentNanos: costNanos };
  return checkExactlyOnce({
    calls,
    observations: seen.map((id) => createObservation(id)),
    ledgerCalls,
    faults,
    sums,
  });
}

const STOPPING = 'The gateway is stopping.';
const KILLED = createFault('data-1', 'kill');

describe('exactly once: accepts a history with', () => {
  test.each<[string, History]>([
    ['a received answer', { calls: [createCall('a')], seen: ['a'], ledgerCalls: [createLedgerCall('a')] }],
    ['a rejection', { calls: [createRejectedCall('a', 429, '')], seen: [], ledgerCalls: [] }],
    [
      'a provider that could not be reached',
      { calls: [createRejectedCall('a', 502, '')], seen: [], ledgerCalls: [createLedgerCall('a')] },
    ],
    [
      'a rejected second send',
      {
        calls: [createRejectedCall('a', 429, '')],
        seen: ['a'],
        ledgerCalls: [createLedgerCall('a', { error: 'retry_rejected' })],
      },
    ],
    [
      'a WebSocket that opened during shutdown',
      {
        calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })],
        seen: ['a'],
        ledgerCalls: [createLedgerCall('a')],
      },
    ],
    [
      'a WebSocket rejected during shutdown',
      { calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: [], ledgerCalls: [] },
    ],
    ['a call that never arrived', { calls: [createBrokenCall('a')], seen: [], ledgerCalls: [] }],
    ['an aborted call', { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [createLedgerCall('a')] }],
    [
      'a lost call whose data plane was killed',
      { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [], faults: [KILLED] },
    ],
    [
      'a recorded call whose data plane was killed',
      { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [createLedgerCall('a')], faults: [KILLED] },
    ],
    [
      'an idempotent call forwarded twice',
      { calls: [createCall('a')], seen: ['a', 'a'], ledgerCalls: [createLedgerCall('a')] },
    ],
  ])('%s', (_name, history) => {
    expect(check(history)).toEqual([]);
  });
});

describe('exactly once: reports a history with', () => {
  test.each<[string, History, RegExp]>([
    [
      'a received response that is lost',
      { calls: [createCall('a')], seen: ['a'], ledgerCalls: [] },
      /received completely and is not recorded/,
    ],
    [
      'a received response that is lost with its data plane',
      { calls: [createCall('a')], seen: ['a'], ledgerCalls: [], faults: [KILLED] },
      /received completely and is not recorded/,
    ],
    [
      'an aborted call that is lost',
      { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [] },
      /reached the provider and is not/,
    ],
    [
      'a call lost when another data plane was killed',
      { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [], faults: [createFault('data-2', 'kill')] },
      /reached the provider and is not recorded/,
    ],
    [
      'a call lost when its data plane was killed before',
      {
        calls: [createBrokenCall('a')],
        seen: ['a'],
        ledgerCalls: [],
        faults: [createFault('data-1', 'kill', T0 - 10, T0 + 50)],
      },
      /reached the provider and is not recorded/,
    ],
    [
      'a call lost when its data plane was frozen',
      { calls: [createBrokenCall('a')], seen: ['a'], ledgerCalls: [], faults: [createFault('data-1', 'freeze')] },
      /reached the provider and is not recorded/,
    ],
    [
      'a lost WebSocket that opened during shutdown',
      { calls: [createRejectedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: ['a'], ledgerCalls: [] },
      /received completely and is not recorded/,
    ],
    [
      'a lost response 502',
      { calls: [createRejectedCall('a', 502, '')], seen: [], ledgerCalls: [] },
      /received completely and is not recorded/,
    ],
    [
      'a call recorded twice',
      { calls: [createCall('a')], seen: ['a'], ledgerCalls: [createLedgerCall('a'), createLedgerCall('a')] },
      /recorded twice/,
    ],
    [
      'a record under another request id',
      { calls: [createCall('a')], seen: ['a'], ledgerCalls: [createLedgerCall('a', { recordId: 'other' })] },
      /another id/,
    ],
    [
      'a record without a call',
      { calls: [], seen: [], ledgerCalls: [{ ...createLedgerCall('a'), callId: null }] },
      /matches no call/,
    ],
    [
      'a rejection with a record',
      { calls: [createRejectedCall('a', 429, '')], seen: [], ledgerCalls: [createLedgerCall('a')] },
      /is recorded/,
    ],
    [
      'a rejection that reached the provider',
      { calls: [createRejectedCall('a', 503, '')], seen: ['a'], ledgerCalls: [] },
      /was rejected with 503 and reached the provider/,
    ],
    ['a provider call that no client sent', { calls: [], seen: ['a'], ledgerCalls: [] }, /no client sent it/],
  ])('%s', (_name, history, expected) => {
    expect(check(history)).toEqual([expect.stringMatching(expected)]);
  });

  test.each(['requests', 'costNanos', 'spentNanos'] as const)('a total that differs from the records: %s', (name) => {
    const sums = { requests: 1, costNanos: 10, spentNanos: 10, [name]: 11 };
    const history = {
      calls: [createCall('a')],
      observations: [createObservation('a')],
      ledgerCalls: [createLedgerCall('a')],
      faults: [],
      sums,
    };
    expect(checkExactlyOnce(history)).toEqual([expect.stringContaining('11, the records contain')]);
  });
});
