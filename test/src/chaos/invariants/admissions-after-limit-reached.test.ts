import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits, type FaultTrace, type Interval } from '../evidence/evidence-types.js';
import { checkAdmissionsAfterLimitReached, REPORTING_DELAY_MS } from './admissions-after-limit-reached.js';
import { createCall, createFault, createLedgerCall, createObservation, T0 } from './history-fixture.js';
import { WINDOW_MS } from './rate-limits.js';

const SOFT = createAgentLimits('soft', { budgetNanos: 20 });
const TOKENS = createAgentLimits('soft', { tpmLimit: 6 });
/** The time from which the store knows that the two calls used up the limit. */
const KNOWN_AT = T0 + 100 + REPORTING_DELAY_MS;

const at = (id: string, sentAt: number, fields: Partial<CallTrace> = {}): CallTrace =>
  createCall(id, { agent: 'soft', sentAt, endedAt: sentAt + 100, ...fields });

interface History {
  readonly agent?: typeof SOFT;
  readonly faults?: readonly FaultTrace[];
  readonly storeOutages?: readonly Interval[];
  /** Calls that did not reach the provider. */
  readonly rejected?: readonly CallTrace[];
}

function check(
  later: readonly CallTrace[],
  { agent = SOFT, faults = [], storeOutages = [], rejected = [] }: History = {},
) {
  const passed = [at('a', T0), at('b', T0), ...later];
  return checkAdmissionsAfterLimitReached({
    agents: [agent],
    calls: [...passed, ...rejected],
    observations: passed.map(({ id, sentAt }) => createObservation(id, sentAt + 10)),
    ledgerCalls: passed.map(({ id }) => createLedgerCall(id, { agent: 'soft' })),
    faults,
    storeOutages,
  });
}

test.each([SOFT, TOKENS])('late admissions: calls in flight when the limit is reached may exceed it', (agent) => {
  expect(check([at('c', T0 + 50), at('d', KNOWN_AT - 1)], { agent })).toEqual({ violations: [], reached: 0 });
});

test.each([SOFT, TOKENS])('late admissions: calls sent after the store knows must not pass', (agent) => {
  expect(check([at('c', KNOWN_AT)], { agent }).violations).toEqual([expect.stringContaining('soft: c passed when')]);
  expect(check([], { agent, rejected: [at('c', KNOWN_AT, { status: 429 })] })).toEqual({ violations: [], reached: 1 });
});

test('late admissions: tokens of an earlier minute do not count, spend does', () => {
  const later = [at('c', T0 + WINDOW_MS + 1)];
  expect(check(later, { agent: TOKENS }).violations).toEqual([]);
  expect(check(later).violations).toHaveLength(1);
});

test('late admissions: a process that froze after a call reports its amounts later', () => {
  const faults = [createFault('data-1', 'freeze', T0 + 200, T0 + 5_000)];
  expect(check([at('c', T0 + 5_000)], { faults }).violations).toEqual([]);
  expect(check([at('c', T0 + 5_001 + REPORTING_DELAY_MS)], { faults }).violations).toHaveLength(1);
  expect(check([at('c', KNOWN_AT)], { faults: [createFault('data-2', 'freeze')] }).violations).toHaveLength(1);
});

test('late admissions: a process that died at once may not have reported, one that died later has', () => {
  expect(
    check([at('c', KNOWN_AT)], { faults: [createFault('data-1', 'kill', T0 + 200, T0 + 300)] }).violations,
  ).toEqual([]);
  const later = [createFault('data-1', 'kill', KNOWN_AT + 1, KNOWN_AT + 300)];
  expect(check([at('c', KNOWN_AT + 400)], { faults: later }).violations).toHaveLength(1);
});

test('late admissions: calls pass unchecked during a store outage', () => {
  const storeOutages = [{ from: KNOWN_AT, to: KNOWN_AT + 500 }];
  expect(check([at('c', KNOWN_AT + 400)], { storeOutages }).violations).toEqual([]);
});

test('late admissions: lost spend counts again after the next call through its data plane, lost tokens do not', () => {
  const storeOutages = [{ from: KNOWN_AT, to: KNOWN_AT + 500 }];
  const asked = at('x', KNOWN_AT + 501, { status: 429 });
  const late = [at('c', KNOWN_AT + 601 + REPORTING_DELAY_MS)];
  expect(check(late, { storeOutages }).violations).toEqual([]);
  expect(check(late, { storeOutages, rejected: [{ ...asked, plane: 'data-2' }] }).violations).toEqual([]);
  expect(check(late, { storeOutages, rejected: [asked] }).violations).toHaveLength(1);
  expect(check(late, { agent: TOKENS, storeOutages, rejected: [asked] }).violations).toEqual([]);
  const faults = [createFault('data-1', 'kill', KNOWN_AT + 100, KNOWN_AT + 200)];
  expect(check(late, { storeOutages, rejected: [asked], faults }).violations).toEqual([]);
});
