import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { monthOfMs } from '../limits/calendar-month.js';
import type { RoutedExchange } from './exchange.js';
import { PendingDecodes } from './pending-decodes.js';
import { createSettle, releaseReservation } from './settle.js';
import { createContext, createUpstream } from './testing/proxy-fixture.js';

test('settle: a call is booked once, however many ways it ends; whoever comes second only hears that it is', () => {
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
  const x = {
    request: { id: 'id-1', headers: [], startedAtMs: 0, startedAtPerfMs: 0, method: 'GET' },
    routed: { context: createContext([upstream]), upstream, target: { rest: '/x' }, tokenPosition: null },
    admission: { month: monthOfMs(Date.UTC(2026, 10)) },
    meter: null,
    deferredUsage: null,
    body: null,
    settled: false,
    errorClass: '',
    upstreamStatus: 0,
  } as unknown as RoutedExchange;
  const heard: (Error | null)[] = [];
  settle(x, (error) => void heard.push(error));
  const once = [counted, settled];
  settle(x, (error) => void heard.push(error));
  expect(records).toHaveLength(1);
  expect([counted, settled]).toEqual(once);
  expect(heard).toEqual([null, null]);
});

test('settle: a hold of a call that never goes upstream is given back once', () => {
  const givenBack: number[] = [];
  const upstream = createUpstream('http://127.0.0.1:1');
  const x = {
    routed: { context: createContext([upstream]), upstream },
    admission: { month: monthOfMs(Date.UTC(2026, 10)) },
    reservedNanos: 70,
  } as unknown as RoutedExchange;
  for (let n = 0; n < 2; n++)
    releaseReservation({ settle: ({ reservationNanos: holdNanos }) => void givenBack.push(holdNanos) }, x);
  expect(givenBack).toEqual([70]);
});
