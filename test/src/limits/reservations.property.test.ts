/**
 * Reservations of a hard budget over three writers on one store: calls are admitted and settled while replies are in
 * flight, writers are killed, leases expire, and a month ends meanwhile.
 *
 *   never more    admitted than fits beside spend and the reservations of live writers
 *   never less    than that: no call is rejected that fits beside spend and reservations whose lease still runs
 */

import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import { RESERVATION_LEASE_MS } from '@acg/dataplane/counters/redis/admit-script';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { scopeTag } from '@acg/dataplane/limits/limit-table';
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
const windowAt = (ms: number) => calendarWindowAt('month', ms / 1000);

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
  /** Effects of the replies, in the order of their arrival. */
  readonly answers: (() => void)[] = [];
  reportedAtMs = 0;
  /** Unix ms; null while the writer lives. */
  freeAtMs: number | null = null;

  /** Of the calls that were admitted in the window of this instant. */
  reservedNanosAt(ms: number): number {
    return this.reservations
      .filter(({ admittedAtSec }) => windowAt(admittedAtSec * 1000).name === windowAt(ms).name)
      .reduce((sum, { nanos }) => sum + nanos, 0);
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
      const spent = new Map<number, number>();
      let nowMs = MONTH_END_MS - MAX_ANSWER_MS;

      const run = async (by: Writer, batch: AdmissionBatch) => {
        batch.freezeTotals();
        const month = monthOfMs(nowMs);
        const header = { windows: DEFAULT_WINDOW_LENGTHS_MS, month, probe: false, probeTag: '' };
        const keys = listAdmitKeys(header, batch);
        const clock = [Math.floor(nowMs / 1000), (nowMs % 1000) * 1000];
        const sent = [
          'EVAL',
          scriptWithGivenClock,
          keys.length,
          ...keys,
          encodeAdmitArgument(header, batch),
          by.name,
          ...clock,
        ] as const;
        const answer = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
        const reply = decodeAdmitReply(answer, batch, month)!;
        by.reportedAtMs = nowMs;
        by.answers.push(() => {
          for (const { counter: spendCounter, total, sentNanos } of batch.spends) {
            if (total !== null) spendCounter.acknowledge(total, sentNanos, performance.now());
          }
          batch.deliverReply(reply, false);
        });
        return reply;
      };
      const tell = async (by: Writer): Promise<void> => {
        const batch = new AdmissionBatch(0, by.spendCounters);
        batch.reportSpend(by.spendCounters.getOrCreate(agentId));
        await run(by, batch);
      };

      for (const one of steps) {
        const month = monthOfMs(nowMs);
        switch (one.do) {
          case 'admit': {
            const by = writers[one.writer]!;
            const call: Reservation = { nanos: one.nanos, month: null };
            const batch = new AdmissionBatch(0, by.spendCounters);
            batch.admit(limits, 'openai', limits.budgetedScopes, one.nanos, (admission) => {
              call.month = monthOfMs(admission.admittedAtSec * 1000);
            });
            const taken =
              (spent.get(month) ?? 0) + one.nanos + writers.reduce((sum, { reservedNanos: held }) => sum + held, 0);
            const leased = dead.reduce(
              (sum, { reservedNanos: held, freeAtMs }) => sum + (nowMs < freeAtMs! ? held : 0),
              0,
            );
            const { verdicts } = await run(by, batch);
            const { admittedCount: admitted } = verdicts[0]!;
            if (taken > BUDGET) expect(admitted).toBe(0);
            if (taken + leased <= BUDGET) expect(admitted).toBe(1);
            if (admitted === 1) by.reservations.push(call);
            break;
          }
          case 'answer':
            writers[one.writer]!.answers.shift()?.();
            break;
          case 'settle': {
            const by = writers[one.writer]!;
            const known = by.reservations.filter(({ month: of }) => of !== null);
            const call = known[one.nth % Math.max(1, known.length)];
            if (call === undefined) break;
            by.reservations.splice(by.reservations.indexOf(call), 1);
            const cost = Math.floor(call.nanos * one.share);
            const spendCounter = by.spendCounters.getOrCreate(agentId);
            if (cost > 0) spendCounter.addSpend(call.month!, cost);
            spendCounter.release(call.nanos);
            spent.set(call.month!, (spent.get(call.month!) ?? 0) + cost);
            await tell(by);
            break;
          }
          case 'time':
            if (one.ms >= MAX_ANSWER_MS) for (const by of writers) for (const arrive of by.answers.splice(0)) arrive();
            nowMs += one.ms;
            for (const by of writers)
              if (by.reservedNanos > 0 && nowMs - by.reportedAtMs >= RENEW_INTERVAL_MS) await tell(by);
            break;
          case 'kill': {
            const killed = writers[one.writer]!;
            killed.freeAtMs = killed.reportedAtMs + RESERVATION_LEASE_MS;
            dead.push(killed);
            writers[one.writer] = new Writer();
          }
        }
      }
    }),
  );
});
