/**
 * Reservations of a hard budget over three writers on one store: calls are admitted and settled while replies are in
 * flight, reservations grow, replies are lost, writers are killed, leases expire, and a month ends meanwhile.
 *
 *   never more    admitted than fits beside spend and the reservations of live writers
 *   never less    than that: no call is rejected that fits beside spend and reservations whose lease still runs
 */

import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import { RESERVATION_LEASE_MS } from '@acg/dataplane/counters/redis/script/admit-script';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { acknowledge, runBatch } from './run-admit-script.js';

const WRITERS = 3;
const BUDGET = 100;
const MONTH_END_MS = Date.UTC(2026, 6);
const RENEW_INTERVAL_MS = RESERVATION_LEASE_MS / 3;
/** No reply takes longer: the store would count as unavailable. */
const MAX_ANSWER_MS = 50;
const monthOf = (unixSec: number): string => calendarWindowAt('month', unixSec).name;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Reservation {
  nanos: number;
  /** When the call was admitted, Unix seconds; its month has the reservation. */
  readonly admittedAtSec: number;
  /** The reply has arrived. */
  isKnown: boolean;
}

let names = 0;

class Writer {
  readonly name = `writer-${names++}`;
  readonly spendCounters = new SpendCounters(10, this.name);
  /** Admitted in the store and not released there. */
  readonly reservations: Reservation[] = [];
  /** Batches whose replies are on their way, and the effects of the replies. */
  readonly inflight: { readonly batch: AdmissionBatch; readonly onReply: () => void }[] = [];
  /** By month: when the store has last received the writer's reservations, Unix ms. */
  readonly reportedAtMs = new Map<string, number>();

  reservedNanos(month: string): number {
    const ofMonth = this.reservations.filter(({ admittedAtSec }) => monthOf(admittedAtSec) === month);
    return ofMonth.reduce((sum, { nanos }) => sum + nanos, 0);
  }
}

const writer = fc.nat(WRITERS - 1);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('admit' as const), writer, nanos: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), writer }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('grow' as const),
      writer,
      nth: fc.nat(9),
      nanos: fc.integer({ min: 1, max: 30 }),
    }),
  },
  /** The connection breaks: all replies on their way are lost, and what the store granted with them. */
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose replies' as const), writer }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      writer,
      nth: fc.nat(9),
      share: fc.double({ min: 0, max: 0.4, noNaN: true }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('time' as const),
      ms: fc.oneof(
        fc.integer({ min: 1, max: MAX_ANSWER_MS }),
        fc.integer({ min: MAX_ANSWER_MS, max: RENEW_INTERVAL_MS }),
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), writer }) },
);

test('reservations: three writers on one store, any interleaving over the end of a month', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const agentId = `holds-${names++}`;
      const limits = createTestLimits({ agentId, budgetNanos: BUDGET, hardBudget: true, rpmLimit: 1e6, rpdLimit: 1e6 });
      const writers = Array.from({ length: WRITERS }, () => new Writer());
      const dead: Writer[] = [];
      const spent = new Map<string, number>();
      let nowMs = MONTH_END_MS - MAX_ANSWER_MS;

      const run = async (by: Writer, prepare: (batch: AdmissionBatch) => void) => {
        const createBatch = (nowSec: number) => new AdmissionBatch(0, by.spendCounters, nowSec);
        const batch = createBatch(Math.floor(nowMs / 1000));
        prepare(batch);
        const { reply } = await runBatch(server.admin, batch, createBatch, { clockUs: nowMs * 1000 });
        for (const { counter } of batch.spends) by.reportedAtMs.set(counter.key, nowMs);
        const onReply = (): void => {
          acknowledge(batch);
          batch.deliverReply(reply, false);
        };
        by.inflight.push({ batch, onReply });
        return reply;
      };
      const counterAt = (by: Writer, unixSec: number) =>
        by.spendCounters.getOrCreate(limits.orgId, limits.budgets[0]!.name, calendarWindowAt('month', unixSec));
      const report = (by: Writer, unixSec: number) => run(by, (batch) => batch.report(counterAt(by, unixSec)));
      /** What counts in the month of an instant beside `nanos`, and what dead writers may still hold in it. */
      const taken = (unixSec: number, nanos: number) => {
        const month = monthOf(unixSec);
        const { key } = counterAt(new Writer(), unixSec);
        const live = writers.reduce((sum, by) => sum + by.reservedNanos(month), 0);
        const leased = dead.reduce((sum, by) => {
          const freeAtMs = (by.reportedAtMs.get(key) ?? 0) + RESERVATION_LEASE_MS;
          return sum + (nowMs < freeAtMs ? by.reservedNanos(month) : 0);
        }, 0);
        const sum = (spent.get(month) ?? 0) + live + nanos;
        return { sum, withLeased: sum + leased };
      };
      const expectVerdict = (admitted: number, { sum, withLeased }: ReturnType<typeof taken>): void => {
        if (sum > BUDGET) expect(admitted).toBe(0);
        if (withLeased <= BUDGET) expect(admitted).toBe(1);
      };

      for (const one of steps) {
        const nowSec = Math.floor(nowMs / 1000);
        switch (one.do) {
          case 'admit': {
            const by = writers[one.writer]!;
            const call: Reservation = { nanos: one.nanos, admittedAtSec: nowSec, isKnown: false };
            const before = taken(nowSec, one.nanos);
            const reply = await run(by, (batch) =>
              batch.admit(limits, 'openai', one.nanos, () => {
                call.isKnown = true;
              }),
            );
            const [admitted] = reply.checks[0]!;
            expectVerdict(admitted, before);
            if (admitted === 1) by.reservations.push(call);
            break;
          }
          case 'grow': {
            const by = writers[one.writer]!;
            const known = by.reservations.filter(({ isKnown }) => isKnown);
            const call = known[one.nth % Math.max(1, known.length)];
            if (call === undefined) break;
            const before = taken(call.admittedAtSec, one.nanos);
            const growth: Reservation = { nanos: one.nanos, admittedAtSec: call.admittedAtSec, isKnown: false };
            const reply = await run(by, (batch) =>
              batch.grow(limits, call.admittedAtSec, one.nanos, () => {
                growth.isKnown = true;
              }),
            );
            const [granted] = reply.checks[0]!;
            expectVerdict(granted, before);
            if (granted === 1) by.reservations.push(growth);
            break;
          }
          case 'answer':
            writers[one.writer]!.inflight.shift()?.onReply();
            break;
          case 'lose replies': {
            const by = writers[one.writer]!;
            const lost = by.inflight.splice(0);
            for (const { batch } of lost) for (const { counter } of batch.spends) counter.onReplyLost();
            by.reservations.splice(0, by.reservations.length, ...by.reservations.filter(({ isKnown }) => isKnown));
            // The probe that follows reports what was not acknowledged.
            if (lost.length > 0) {
              await run(by, (batch) => {
                by.spendCounters.unacknowledged.forEach((counter) => {
                  batch.report(counter);
                });
              });
            }
            break;
          }
          case 'settle': {
            const by = writers[one.writer]!;
            const known = by.reservations.filter(({ isKnown }) => isKnown);
            const call = known[one.nth % Math.max(1, known.length)];
            if (call === undefined) break;
            by.reservations.splice(by.reservations.indexOf(call), 1);
            const cost = Math.floor(call.nanos * one.share);
            const counter = counterAt(by, call.admittedAtSec);
            if (cost > 0) counter.addSpend(cost);
            counter.release(call.nanos);
            const month = monthOf(call.admittedAtSec);
            spent.set(month, (spent.get(month) ?? 0) + cost);
            await report(by, call.admittedAtSec);
            break;
          }
          case 'time':
            if (one.ms >= MAX_ANSWER_MS)
              for (const by of writers) for (const { onReply } of by.inflight.splice(0)) onReply();
            nowMs += one.ms;
            for (const by of writers) {
              for (const atMs of [MONTH_END_MS - 1, MONTH_END_MS]) {
                const counter = counterAt(by, atMs / 1000);
                const isDue = nowMs - (by.reportedAtMs.get(counter.key) ?? 0) >= RENEW_INTERVAL_MS;
                if (counter.reservedNanos > 0 && isDue) await report(by, atMs / 1000);
              }
            }
            break;
          case 'kill':
            dead.push(writers[one.writer]!);
            writers[one.writer] = new Writer();
        }
      }
    }),
  );
});
