import { expect, test } from 'vitest';
import { type CallTrace, createAgentLimits, type FaultTrace, type Interval } from '../evidence/history.js';
import { createCall, createFault, createLedgerCall, createObservation, T0 } from './history-fixture.js';
import { checkLateAdmissions, REPORTING_DELAY_MS } from './late-admissions.js';
import { WINDOW_MS } from './rate-limits.js';

const SOFT = createAgentLimits('soft', { budgetNanos: 20 });
const TOKENS = createAgentLimits('soft', { tpmLimit: 6 });
/** Two calls that use up the limit, and are known to have done so from there on. */
const TOLD = T0 + 100 + REPORTING_DELAY_MS;

const at = (id: string, sentAt: number, fields: Partial<CallTrace> = {}): CallTrace =>
  createCall(id, { agent: 'soft', sentAt, endedAt: sentAt + 100, ...fields });

interface Made {
  readonly agent?: typeof SOFT;
  readonly faults?: readonly FaultTrace[];
  readonly storeAway?: readonly Interval[];
  /** Calls that the provider did not see. */
  readonly refused?: readonly CallTrace[];
}

function look(later: readonly CallTrace[], { agent = SOFT, faults = [], storeAway = [], refused = [] }: Made = {}) {
  const passed = [at('a', T0), at('b', T0), ...later];
  return checkLateAdmissions({
    agents: [agent],
    calls: [...passed, ...refused],
    observations: passed.map(({ id, sentAt }) => createObservation(id, sentAt + 10)),
    ledgerCalls: passed.map(({ id }) => createLedgerCall(id, { agent: 'soft' })),
    faults,
    storeOutages: storeAway,
  });
}

test.each([SOFT, TOKENS])('late admissions: what runs when the limit is reached may exceed it', (agent) => {
  expect(look([at('c', T0 + 50), at('d', TOLD - 1)], { agent })).toEqual({ broken: [], reached: 0 });
});

test.each([SOFT, TOKENS])('late admissions: what is sent when that is known must not pass', (agent) => {
  expect(look([at('c', TOLD)], { agent }).broken).toEqual([expect.stringContaining('soft: c passed when')]);
  expect(look([], { agent, refused: [at('c', TOLD, { status: 429 })] })).toEqual({ broken: [], reached: 1 });
});

test('late admissions: tokens of an earlier minute do not count, spend does', () => {
  const later = [at('c', T0 + WINDOW_MS + 1)];
  expect(look(later, { agent: TOKENS }).broken).toEqual([]);
  expect(look(later).broken).toHaveLength(1);
});

test('late admissions: what froze behind a call says its figures later', () => {
  const faults = [createFault('data-1', 'freeze', T0 + 200, T0 + 5_000)];
  expect(look([at('c', T0 + 5_000)], { faults }).broken).toEqual([]);
  expect(look([at('c', T0 + 5_001 + REPORTING_DELAY_MS)], { faults }).broken).toHaveLength(1);
  expect(look([at('c', TOLD)], { faults: [createFault('data-2', 'freeze')] }).broken).toHaveLength(1);
});

test('late admissions: a process that ended at once may have told nobody, one that ended later has', () => {
  expect(look([at('c', TOLD)], { faults: [createFault('data-1', 'kill', T0 + 200, T0 + 300)] }).broken).toEqual([]);
  const later = [createFault('data-1', 'kill', TOLD + 1, TOLD + 300)];
  expect(look([at('c', TOLD + 400)], { faults: later }).broken).toHaveLength(1);
});

test('late admissions: while the store is away calls pass unchecked', () => {
  const storeAway = [{ from: TOLD, to: TOLD + 500 }];
  expect(look([at('c', TOLD + 400)], { storeAway }).broken).toEqual([]);
});

test('late admissions: spend that the store may have lost counts again when its data plane was asked, tokens do not', () => {
  const storeAway = [{ from: TOLD, to: TOLD + 500 }];
  const asked = at('x', TOLD + 501, { status: 429 });
  const late = [at('c', TOLD + 601 + REPORTING_DELAY_MS)];
  expect(look(late, { storeAway }).broken).toEqual([]);
  expect(look(late, { storeAway, refused: [{ ...asked, plane: 'data-2' }] }).broken).toEqual([]);
  expect(look(late, { storeAway, refused: [asked] }).broken).toHaveLength(1);
  expect(look(late, { agent: TOKENS, storeAway, refused: [asked] }).broken).toEqual([]);
  const faults = [createFault('data-1', 'kill', TOLD + 100, TOLD + 200)];
  expect(look(late, { storeAway, refused: [asked], faults }).broken).toEqual([]);
});
