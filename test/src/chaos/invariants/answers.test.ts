import { describe, expect, test } from 'vitest';
import { type AgentTerms, type CallTrace, type FaultTrace, termsOf } from '../history.js';
import { answersExplained } from './answers.js';
import { brokenCall, call, fault, refusedCall, T0 } from './made-history.js';

interface Made {
  readonly faults?: readonly FaultTrace[];
  readonly agent?: Partial<AgentTerms>;
  readonly storeAway?: boolean;
}

function look(one: CallTrace, { faults = [], agent = {}, storeAway = false }: Made = {}): string[] {
  const gaps = storeAway ? [{ from: T0, to: T0 + 10 }] : [];
  return answersExplained({ agents: [termsOf('wide', agent)], calls: [one], faults, storeAway: gaps });
}

const socket = (closeCode: number): CallTrace => call('a', { kind: 'websocket', status: 101, closeCode });
const PROVIDER = [fault('provider', 'cut')];
const PLANE = [fault('data-1', 'kill')];
const budget = { message: 'Spent.', limitType: 'budget', hasRetryAfter: false };

/** Each with what explains it; without that it is a violation. */
const EXPLAINED: readonly [string, CallTrace, Made][] = [
  ['429 of a minute', refusedCall('a', 429, 'Too many.'), { agent: { rpmLimit: 5 } }],
  ['429 of a budget', call('a', { status: 429, refusal: budget }), { agent: { budgetNanos: 5 } }],
  ['502', refusedCall('a', 502, 'The provider could not be reached.'), { faults: PROVIDER }],
  ['504', refusedCall('a', 504, 'The provider did not answer in time.'), { faults: [fault('provider', 'freeze')] }],
  ['503 of a circuit', refusedCall('a', 503, 'The provider is failing: stopped.'), { faults: PROVIDER }],
  [
    '503 of a token',
    refusedCall('a', 503, 'The gateway token cannot be checked right now.'),
    { faults: [fault('postgres', 'kill')] },
  ],
  [
    '503 without a store',
    refusedCall('a', 503, 'Limits cannot be checked right now.'),
    { agent: { refusesWithoutStore: true }, storeAway: true },
  ],
  ['503 of a stop', refusedCall('a', 503, 'The gateway is stopping.'), { faults: [fault('data-1', 'restart')] }],
  ['a connection that broke', brokenCall('a'), { faults: PLANE }],
  ['a stream that the provider broke', brokenCall('a', { kind: 'stream', status: 200 }), { faults: PROVIDER }],
  ['an upload whose refusal was not read', brokenCall('a', { kind: 'upload' }), { faults: [fault('postgres', 'cut')] }],
  ['an upload that the provider broke', brokenCall('a', { kind: 'upload' }), { faults: PROVIDER }],
  ['a WebSocket of a data plane that stops', socket(1001), { faults: [fault('data-1', 'restart')] }],
  ['a WebSocket of a data plane that died', socket(1006), { faults: PLANE }],
  ['a WebSocket of a provider that died', socket(1011), { faults: PROVIDER }],
];

test('answers: a circuit closes late where the result of a probe may have been lost, and only there', () => {
  const late = refusedCall('a', 503, 'The provider is failing: stopped.', {
    sentAt: T0 + 60_000,
    endedAt: T0 + 60_001,
  });
  const lost = [fault('data-2', 'kill', T0 + 20_000, T0 + 21_000)];
  expect(look(late, { faults: PROVIDER })).toHaveLength(1);
  expect(look(late, { faults: [...PROVIDER, ...lost] })).toEqual([]);
  expect(look(late, { faults: lost })).toHaveLength(1);
  const later = { ...late, sentAt: T0 + 115_000, endedAt: T0 + 115_001 };
  expect(look(later, { faults: [...PROVIDER, ...lost] })).toHaveLength(1);
  expect(look(later, { faults: [...PROVIDER, ...lost, fault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] })).toEqual(
    [],
  );
  expect(look(later, { faults: [...PROVIDER, fault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] })).toHaveLength(1);
});

test('answers: what arrived whole needs no reason', () => {
  expect(look(call('a'))).toEqual([]);
  expect(look(socket(1000))).toEqual([]);
});

describe.each(EXPLAINED)('answers: %s', (_name, one, made) => {
  test('with its reason it is fine', () => {
    expect(look(one, made)).toEqual([]);
  });

  test('without its reason it is a violation', () => {
    expect(look(one)).toHaveLength(1);
  });

  test('a fault that was over long before is no reason', () => {
    const faults = made.faults?.map((old) => ({ ...old, from: T0 - 100_000, to: T0 - 99_000 })) ?? [];
    expect(look(one, { faults })).toHaveLength(1);
  });
});

test.each([
  ['an answer that is not what the provider said', call('a', { wrong: 'ended without [DONE]' })],
  ['a status that the provider does not send', call('a', { status: 500 })],
  ['a status of the gateway that nothing brings about', refusedCall('a', 401, 'unknown')],
  ['an internal error', refusedCall('a', 500, 'Internal error.')],
  ['a close code that is not documented', socket(1005)],
  ['a session that was revoked though nobody did', socket(1008)],
])('answers: %s is a violation whatever happened', (_name, one) => {
  const agent = { rpmLimit: 1, budgetNanos: 1, refusesWithoutStore: true };
  expect(look(one, { faults: [...PROVIDER, ...PLANE], agent, storeAway: true })).toHaveLength(1);
});

test('answers: who has to wait is told for how long', () => {
  const refusal = { message: 'The provider is failing.', limitType: '', hasRetryAfter: false };
  expect(look(call('a', { status: 503, refusal }), { faults: PROVIDER })).toEqual([
    expect.stringContaining('without Retry-After'),
  ]);
});

test('answers: no head of an answer is not the doing of a provider', () => {
  expect(look(brokenCall('a'), { faults: PROVIDER })).toHaveLength(1);
});

test('answers: another data plane that dies is no reason', () => {
  expect(look(brokenCall('a'), { faults: [fault('data-2', 'kill')] })).toHaveLength(1);
});
