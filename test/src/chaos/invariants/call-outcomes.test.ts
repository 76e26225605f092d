import { describe, expect, test } from 'vitest';
import { type AgentLimits, type CallTrace, createAgentLimits, type FaultTrace } from '../evidence/evidence-types.js';
import { checkCallOutcomes } from './call-outcomes.js';
import { createBrokenCall, createCall, createFault, createRejectedCall, T0 } from './history-fixture.js';

interface History {
  readonly faults?: readonly FaultTrace[];
  readonly agent?: Partial<AgentLimits>;
  readonly storeOutages?: boolean;
}

function check(one: CallTrace, { faults = [], agent = {}, storeOutages = false }: History = {}): string[] {
  const gaps = storeOutages ? [{ from: T0, to: T0 + 10 }] : [];
  return checkCallOutcomes({ agents: [createAgentLimits('wide', agent)], calls: [one], faults, storeOutages: gaps });
}

const socket = (closeCode: number): CallTrace => createCall('a', { kind: 'websocket', status: 101, closeCode });
const PROVIDER = [createFault('provider', 'cut')];
const PLANE = [createFault('data-1', 'kill')];
const budget = { message: 'Spent.', limitType: 'budget', hasRetryAfter: false };

/** Outcomes with the fact that explains them; without it they are violations. */
const EXPLAINED: readonly [string, CallTrace, History][] = [
  ['429 of a minute', createRejectedCall('a', 429, 'Too many.'), { agent: { rpmLimit: 5 } }],
  ['429 of a budget', createCall('a', { status: 429, rejection: budget }), { agent: { budgetNanos: 5 } }],
  ['502', createRejectedCall('a', 502, 'The provider could not be reached.'), { faults: PROVIDER }],
  [
    '504',
    createRejectedCall('a', 504, 'The provider did not answer in time.'),
    { faults: [createFault('provider', 'freeze')] },
  ],
  ['503 of a breaker', createRejectedCall('a', 503, 'The provider is failing: stopped.'), { faults: PROVIDER }],
  [
    '503 of a token check',
    createRejectedCall('a', 503, 'The gateway token cannot be checked right now.'),
    { faults: [createFault('postgres', 'kill')] },
  ],
  [
    '503 without a store',
    createRejectedCall('a', 503, 'Limits cannot be checked right now.'),
    { agent: { rejectsWithoutStore: true }, storeOutages: true },
  ],
  [
    '503 of a shutdown',
    createRejectedCall('a', 503, 'The gateway is stopping.'),
    { faults: [createFault('data-1', 'restart')] },
  ],
  ['a connection that broke', createBrokenCall('a'), { faults: PLANE }],
  ['a stream that the provider broke', createBrokenCall('a', { kind: 'stream', status: 200 }), { faults: PROVIDER }],
  [
    'an upload whose rejection was not read',
    createBrokenCall('a', { kind: 'upload' }),
    { faults: [createFault('postgres', 'cut')] },
  ],
  ['an upload that the provider broke', createBrokenCall('a', { kind: 'upload' }), { faults: PROVIDER }],
  ['a WebSocket of a data plane that shuts down', socket(1001), { faults: [createFault('data-1', 'restart')] }],
  ['a WebSocket of a data plane that died', socket(1006), { faults: PLANE }],
  ['a WebSocket of a provider that died', socket(1011), { faults: PROVIDER }],
];

test('call outcomes: a breaker may close late only where the result of a probe may have been lost', () => {
  const late = createRejectedCall('a', 503, 'The provider is failing: stopped.', {
    sentAt: T0 + 60_000,
    endedAt: T0 + 60_001,
  });
  const lost = [createFault('data-2', 'kill', T0 + 20_000, T0 + 21_000)];
  expect(check(late, { faults: PROVIDER })).toHaveLength(1);
  expect(check(late, { faults: [...PROVIDER, ...lost] })).toEqual([]);
  expect(check(late, { faults: lost })).toHaveLength(1);
  const later = { ...late, sentAt: T0 + 115_000, endedAt: T0 + 115_001 };
  expect(check(later, { faults: [...PROVIDER, ...lost] })).toHaveLength(1);
  expect(
    check(later, { faults: [...PROVIDER, ...lost, createFault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] }),
  ).toEqual([]);
  expect(
    check(later, { faults: [...PROVIDER, createFault('postgres', 'kill', T0 + 60_000, T0 + 61_000)] }),
  ).toHaveLength(1);
});

test('call outcomes: a complete response needs no reason', () => {
  expect(check(createCall('a'))).toEqual([]);
  expect(check(socket(1000))).toEqual([]);
});

describe.each(EXPLAINED)('call outcomes: %s', (_name, one, history) => {
  test('is accepted with its reason', () => {
    expect(check(one, history)).toEqual([]);
  });

  test('is a violation without its reason', () => {
    expect(check(one)).toHaveLength(1);
  });

  test('is a violation after a fault that ended long before', () => {
    const faults = history.faults?.map((old) => ({ ...old, from: T0 - 100_000, to: T0 - 99_000 })) ?? [];
    expect(check(one, { faults })).toHaveLength(1);
  });
});

test.each([
  ['a response that differs from that of the provider', createCall('a', { responseProblem: 'ended without [DONE]' })],
  ['a status that the provider does not send', createCall('a', { status: 500 })],
  ['a gateway status without a cause', createRejectedCall('a', 401, 'unknown')],
  ['an internal error', createRejectedCall('a', 500, 'Internal error.')],
  ['a close code that is not documented', socket(1005)],
  ['a revoked session without a revocation', socket(1008)],
])('call outcomes: %s is a violation in any case', (_name, one) => {
  const agent = { rpmLimit: 1, budgetNanos: 1, rejectsWithoutStore: true };
  expect(check(one, { faults: [...PROVIDER, ...PLANE], agent, storeOutages: true })).toHaveLength(1);
});

test('call outcomes: a rejection to retry needs Retry-After', () => {
  const rejection = { message: 'The provider is failing.', limitType: '', hasRetryAfter: false };
  expect(check(createCall('a', { status: 503, rejection }), { faults: PROVIDER })).toEqual([
    expect.stringContaining('without Retry-After'),
  ]);
});

test('call outcomes: a provider fault explains a missing response head, which may not have left', () => {
  expect(check(createBrokenCall('a'), { faults: PROVIDER })).toEqual([]);
});

test('call outcomes: the death of another data plane is no reason', () => {
  expect(check(createBrokenCall('a'), { faults: [createFault('data-2', 'kill')] })).toHaveLength(1);
});
