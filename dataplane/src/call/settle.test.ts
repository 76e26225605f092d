import { invariantFailures } from '@acg/base/invariant-failures';
import { USAGE_RECORD_FIELDS } from '@acg/proto/generated/usage-record';
import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { createTestBudget, createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { PendingDecodes } from './pending-decodes.js';
import { createSettle, releaseReservation } from './settle.js';
import { createTestExchange } from './testing/exchange-fixture.js';
import { createContext, createUpstream } from './testing/proxy-fixture.js';

test('settle: books a call once; a second call only reports that it is booked', () => {
  const failuresBefore = new Map(invariantFailures());
  const records: IUsageRecord[] = [];
  let counted = 0;
  let settled = 0;
  const settle = createSettle({
    spool: {
      appendRecord(record, done) {
        records.push(record);
        done(null);
      },
    },
    counters: { settle: () => void counted++ },
    metering: { estimateUnanswered: () => null, priceUsage: () => ({ costNanos: 0, source: 'none' }) },
    pendingDecodes: new PendingDecodes(),
    onSettled: () => void settled++,
    onReservationExceeded: () => {},
  });
  const upstream = createUpstream('http://127.0.0.1:1');
  const exchange = createTestExchange({
    routed: { context: createContext([upstream]), upstream, target: { providerPath: '/x' }, tokenPosition: null },
    admission: { admittedAtSec: Date.UTC(2026, 10) / 1000, wouldReject: '' },
  });
  const heard: (Error | null)[] = [];
  settle(exchange, (error) => void heard.push(error));
  const once = [counted, settled];
  settle(exchange, (error) => void heard.push(error));
  expect(records).toHaveLength(1);
  expect([counted, settled]).toEqual(once);
  expect(heard).toEqual([null, null]);
  expect(invariantFailures()).toEqual(failuresBefore);
  const unset = USAGE_RECORD_FIELDS.filter(({ name, optional }) => !optional && records[0]![name] === undefined);
  expect(unset, 'buildUsageRecord in dataplane/src/call/settle.ts sets every field').toEqual([]);
});

test('settle: releases the reservation of a call that is not forwarded once', () => {
  const givenBack: number[] = [];
  const upstream = createUpstream('http://127.0.0.1:1');
  const exchange = createTestExchange({
    routed: { context: createContext([upstream]), upstream },
    admission: { admittedAtSec: Date.UTC(2026, 10) / 1000, wouldReject: '' },
  });
  exchange.admission.reservedNanos = 70;
  for (let n = 0; n < 2; n++)
    releaseReservation({ settle: ({ reservationNanos: holdNanos }) => void givenBack.push(holdNanos) }, exchange);
  expect(givenBack).toEqual([70]);
});

test('settle: names the rows that counted the call, and its cell with the shares', () => {
  const hard = { mode: 'hard', limitNanos: 9, window: 'day' } as const;
  const limits = createTestLimits({
    budgets: [
      createTestBudget({ ...hard, id: 'row-1' }),
      createTestBudget({ ...hard, id: 'row-1', cell: 'eu' }),
      createTestBudget({ ...hard, id: '', scopeId: 'agent-1', window: 'month', cell: 'eu' }),
    ],
  });
  const records: IUsageRecord[] = [];
  const settle = createSettle({
    spool: { appendRecord: (record) => void records.push(record) },
    counters: { settle: () => undefined },
    metering: { estimateUnanswered: () => null, priceUsage: () => ({ costNanos: 0, source: 'none' }) },
    pendingDecodes: new PendingDecodes(),
    onSettled: () => {},
    onReservationExceeded: () => {},
  });
  const upstream = createUpstream('http://127.0.0.1:1');
  const context = { ...createContext([upstream]), agentLimits: limits };
  const exchange = createTestExchange({
    routed: { context, upstream, target: { providerPath: '/x' }, tokenPosition: null },
    admission: { admittedAtSec: Date.UTC(2026, 10, 28) / 1000, wouldReject: '' },
  });
  settle(exchange, () => {});
  expect(records[0]!.budgetRows).toBe('row-1@2026-11-28,row-1@2026-11-28/eu,agent-1@2026-11/eu');
});
