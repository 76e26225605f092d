import { describe, expect, test } from 'vitest';
import { type AgentLimits, type CallTrace, createAgentLimits, type FaultTrace } from '../evidence/history.js';
import { checkCallOutcomes } from './call-outcomes.js';
import { createBrokenCall, createCall, createFault, createRejectedCall, T0 } from './history-fixture.js';

interface Made {
  readonly faults?: readonly FaultTrace[];
  readonly agent?: Partial<AgentLimits>;
  readonly storeAway?: boolean;
}

function look(one: CallTrace, { faults = [], agent = {}, storeAway = false }: Made = {}): string[] {
  const gaps = storeAway ? [{ from: T0, to: T0 + 10 }] : [];
  return checkCallOutcomes({ agents: [createAgentLimits('wide', agent)], calls: [one], faults, storeOutages: gaps });
}

const socket = (closeCode: number): CallTrace => createCall('a', { kind: 'websocket', status: 101, closeCode });
const PROVIDER = [createFault('provider', 'cut')];
const PLANE = [createFault('data-1', 'kill')];
const budget = { message: 'Spent.', limitType: 'budget', hasRetryAfter: false };

/** Each with what explains it; without that it is a violation. */
const EXPLAINED: readonly [string, CallTrace, Made][] = [
  ['429 of a minute', createRejectedCall('a', 429, 'Too many.'), { agent: { rpmLimit: 5 } }],
  ['429 of a budget', createCall('a', { status: 429, rejection: budget }), { agent: { budgetNanos: 5 } }],
  ['502', createRejectedCall('a', 502, 'The provider could not be reached.'), { faults: PROVIDER }],
  [
    '504',
    createRejectedCall('a', 504, 'The provider did not answer in time.'),
    { faults: [createFault('provider', 'freeze')] },
  ],
  ['503 of a circuit', createRejectedCall('a', 503, 'The provider is failing: stopped.'), { faults: PROVIDER }],
  [
    '503 of a token',
    createRejectedCall('a', 503, 'The gateway token cannot be checked right now.'),
    { faults: [createFault('postgres', 'kill')] },
  ],
  [
    '503 without a store',
    createRejectedCall('a', 503, 'Limits cannot be checked right now.'),
    { agent: { rejectsWithoutStore: true }, storeAway: true },
  ],
  [
    '503 of a stop',
    createRejectedCall('a', 503, 'The gateway is stopping.'),
    { faults: [createFault('data-1', 'restart')] },
  ],
  ['a connection that broke', createBrokenCall('a'), { faults: PLANE }],
  ['a stream that the provider broke', createBrokenCall('a', { kind: 'stream', status: 200 }), { faults: PROVIDER }],
  [
    'an upload whose refusal was not read',
    createBrokenCall('a', { kind: 'upload' }),
    { faults: [createFault('postgres', 'cut')] },
  ],
  ['an upload that the provider broke', createBrokenCall('a', { kind: 'upload' }), { faults: PROVIDER }],
  ['a WebSocket of a data plane that stops', socket(1001), { faults: [createFault('data-1', 'restart')] }],
  ['a WebSocket of a data plane that died', socket(1006), { faults: PLANE }],
  ['a WebSocket of a provider that died', socket(1011), { faults: PROVIDER }],
];

test('answers: a circuit closes late where the result of a probe may have been lost, and only there', () => {
  const late = createRejectedCall('a', 503, 'The provider is failing: stopped.', {
    sentAt: T0 + 60_000,
    endedAt: T0 + 60_001,
  });
  const lost = [createFault('data-2', 'kill', T0 + 20_000, T0 + 21_000)];
  expect(look(late, { faults: PROVIDER })).toHaveLength(1);
  expect(look(late, { faults: [...PROVIDER, ...lost] })).toEqual([]);
  expect(look(late, { faults: lost })).toHaveLength(1);
  const later = { ...late, sentAt: T0 + 115_000, endedAt: T0 + 115_001 };
  expect(look(later, { faults: [...PROVIDER, ...lost] })).toHaveLength(1);
  expect(
    look(later, { faults: [...PROVIDER, ...lost, createFault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] }),
  ).toEqual([]);
  expect(
    look(later, { faults: [...PROVIDER, createFault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] }),
  ).toHaveLength(1);
});

test('answers: what arrived whole needs no reason', () => {
  expect(look(createCall('a'))).toEqual([]);
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
  ['an answer that is not what the provider said', createCall('a', { responseProblem: 'ended without [DONE]' })],
  ['a status that the provider does not send', createCall('a', { status: 500 })],
  ['a status of the gateway that nothing brings about', createRejectedCall('a', 401, 'unknown')],
  ['an internal error', createRejectedCall('a', 500, 'Internal error.')],
  ['a close code that is not documented', socket(1005)],
  ['a session that was revoked though nobody did', socket(1008)],
])('answers: %s is a violation whatever happened', (_name, one) => {
  const agent = { rpmLimit: 1, budgetNanos: 1, refusesWithoutStore: true };
  expect(look(one, { faults: [...PROVIDER, ...PLANE], agent, storeAway: true })).toHaveLength(1);
});

test('answers: who has to wait is told for how long', () => {
  const refusal = { message: 'The provider is failing.', limitType: '', hasRetryAfter: false };
  expect(look(createCall('a', { status: 503, rejection: refusal }), { faults: PROVIDER })).toEqual([
    expect.stringContaining('without Retry-After'),
  ]);
});

test('answers: no head of an answer is not the doing of a provider', () => {
  expect(look(createBrokenCall('a'), { faults: PROVIDER })).toHaveLength(1);
});

test('answers: another data plane that dies is no reason', () => {
  expect(look(createBrokenCall('a'), { faults: [createFault('data-2', 'kill')] })).toHaveLength(1);
});
