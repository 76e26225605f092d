import { describe, expect, test } from 'vitest';
import type { BookedCall, CallTrace, FaultTrace } from '../history.js';
import { exactlyOnce } from './exactly-once.js';
import { brokenCall, call, fault, record, refusedCall, sighting, T0 } from './made-history.js';

interface Made {
  readonly calls: readonly CallTrace[];
  /** Ids of calls at the provider. */
  readonly seen: readonly string[];
  readonly booked: readonly BookedCall[];
  readonly faults?: readonly FaultTrace[];
}

function look({ calls, seen, booked, faults = [] }: Made): string[] {
  const costNanos = booked.reduce((sum, one) => sum + one.costNanos, 0);
  const sums = { requests: booked.length, costNanos, spentNanos: costNanos };
  return exactlyOnce({ calls, sightings: seen.map((id) => sighting(id)), booked, faults, sums });
}

const STOPPING = 'The gateway is stopping.';
const KILLED = fault('data-1', 'kill');

describe('exactly once: histories in which nothing is wrong', () => {
  test.each<[string, Made]>([
    ['a received answer', { calls: [call('a')], seen: ['a'], booked: [record('a')] }],
    ['a refusal', { calls: [refusedCall('a', 429, '')], seen: [], booked: [] }],
    ['a provider that could not be reached', { calls: [refusedCall('a', 502, '')], seen: [], booked: [record('a')] }],
    [
      'a WebSocket that came too late',
      { calls: [refusedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: ['a'], booked: [record('a')] },
    ],
    [
      'the same, which never left',
      { calls: [refusedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: [], booked: [] },
    ],
    ['a call that never arrived', { calls: [brokenCall('a')], seen: [], booked: [] }],
    ['a call that broke off', { calls: [brokenCall('a')], seen: ['a'], booked: [record('a')] }],
    ['one whose data plane was killed', { calls: [brokenCall('a')], seen: ['a'], booked: [], faults: [KILLED] }],
    [
      'the same, booked all the same',
      { calls: [brokenCall('a')], seen: ['a'], booked: [record('a')], faults: [KILLED] },
    ],
    ['an idempotent one sent up twice', { calls: [call('a')], seen: ['a', 'a'], booked: [record('a')] }],
  ])('%s', (_name, made) => {
    expect(look(made)).toEqual([]);
  });
});

describe('exactly once: histories that break it', () => {
  test.each<[string, Made, RegExp]>([
    [
      'a received answer is lost',
      { calls: [call('a')], seen: ['a'], booked: [] },
      /received completely and is not booked/,
    ],
    [
      'a received answer is lost with its data plane',
      { calls: [call('a')], seen: ['a'], booked: [], faults: [KILLED] },
      /received completely and is not booked/,
    ],
    [
      'a call that broke off is lost',
      { calls: [brokenCall('a')], seen: ['a'], booked: [] },
      /reached the provider and is not/,
    ],
    [
      'lost because another data plane was killed',
      { calls: [brokenCall('a')], seen: ['a'], booked: [], faults: [fault('data-2', 'kill')] },
      /reached the provider and is not booked/,
    ],
    [
      'lost because its data plane was killed before',
      { calls: [brokenCall('a')], seen: ['a'], booked: [], faults: [fault('data-1', 'kill', T0 - 10, T0 + 50)] },
      /reached the provider and is not booked/,
    ],
    [
      'lost because its data plane was frozen',
      { calls: [brokenCall('a')], seen: ['a'], booked: [], faults: [fault('data-1', 'freeze')] },
      /reached the provider and is not booked/,
    ],
    [
      'a WebSocket that came too late is lost',
      { calls: [refusedCall('a', 503, STOPPING, { kind: 'websocket' })], seen: ['a'], booked: [] },
      /received completely and is not booked/,
    ],
    [
      'an answer of 502 is lost',
      { calls: [refusedCall('a', 502, '')], seen: [], booked: [] },
      /received completely and is not booked/,
    ],
    ['booked twice', { calls: [call('a')], seen: ['a'], booked: [record('a'), record('a')] }, /booked twice/],
    [
      'booked under an id that its client does not know',
      { calls: [call('a')], seen: ['a'], booked: [record('a', { recordId: 'other' })] },
      /another id/,
    ],
    [
      'a record of nothing',
      { calls: [], seen: [], booked: [{ ...record('a'), callId: null }] },
      /of no call that was made/,
    ],
    ['a refusal that is booked', { calls: [refusedCall('a', 429, '')], seen: [], booked: [record('a')] }, /is booked/],
    [
      'a refusal that went to the provider',
      { calls: [refusedCall('a', 503, '')], seen: ['a'], booked: [] },
      /was refused with 503 and reached the provider/,
    ],
    ['a call that nobody made', { calls: [], seen: ['a'], booked: [] }, /nobody sent it/],
  ])('%s', (_name, made, expected) => {
    expect(look(made)).toEqual([expect.stringMatching(expected)]);
  });

  test.each(['requests', 'costNanos', 'spentNanos'] as const)('a sum that is not that of the records: %s', (name) => {
    const sums = { requests: 1, costNanos: 10, spentNanos: 10, [name]: 11 };
    const made = { calls: [call('a')], sightings: [sighting('a')], booked: [record('a')], faults: [], sums };
    expect(exactlyOnce(made)).toEqual([expect.stringContaining('11, the records say')]);
  });
});
