/**
 * Month spend over three writers under failures: connections break, writers are killed or evict acknowledged counters,
 * the store is flushed, months end, and the ledger records spend at any later time.
 *
 *   never more    than was spent
 *   never less    than what the ledger has acknowledged, or what live, connected writers have spent
 */

import { MemoryCounters } from '@acg/dataplane/counters/memory/memory-counters';
import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import { spendReplyOf } from '@acg/dataplane/counters/redis/script/admit-script';
import type { SpendCounter } from '@acg/dataplane/counters/redis/spend-counter';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
import { spendName } from '@acg/dataplane/limits/budget-row';
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';
import { createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { admit, createAdmissionRequest, settleSpend } from './counters-fixture.js';
import { acknowledge, runBatch, type SentBatch, sendBatch } from './run-admit-script.js';

const FIRST_MONTH = 12;
/** The calendar window of a month, counted from January 2025. */
const windowOf = (month: number) => calendarWindowAt('month', Date.UTC(2025, month) / 1000);
/** An instant in the month, Unix µs. */
const clockUsOf = (month: number): number => (windowOf(month).startSec + 1) * 1e6;
const WRITERS = 3;
const OTHERS = 3;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

let names = 0;

/** One process run: its spend counters by month. */
class Writer {
  readonly name = `writer-${names++}`;
  /** Capacity 2: a third scope evicts an acknowledged counter. */
  readonly spendCounters = new SpendCounters(2, this.name);

  /** Counters with spend by month, as long as they have not been evicted. */
  readonly #spent = new Map<number, SpendCounter>();

  spend(agentId: string, month: number, nanos: number): void {
    const counter = this.spendCounters.getOrCreate('org-1', spendName('agent', agentId), windowOf(month));
    counter.addSpend(nanos);
    this.#spent.set(month, counter);
  }

  /** Months whose counters were evicted since the last call. */
  takeEvictedMonths(agentId: string): readonly number[] {
    const evicted = [...this.#spent].filter(
      ([month, counter]) => this.spendCounters.find(spendName('agent', agentId), windowOf(month)) !== counter,
    );
    for (const [month, counter] of evicted) {
      expect(counter.isEvictable).toBe(true); // only acknowledged counters are evicted
      this.#spent.delete(month);
    }
    return evicted.map(([month]) => month);
  }

  readonly createBatch = (nowSec: number): AdmissionBatch => new AdmissionBatch(0, this.spendCounters, nowSec);

  /** Requests the agent's spend in the caller's month, and reports the writer's own spend of all months. */
  createRequest(agentId: string, callerMonth: number, ledger: { month: number; nanos: number }): AdmissionBatch {
    const spendFloor = { spendFloorNanos: ledger.nanos, spendFloorMonth: windowOf(ledger.month).name };
    const batch = this.createBatch(windowOf(callerMonth).startSec);
    batch.peek(createTestLimits({ agentId, ...spendFloor }), [], () => {});
    this.spendCounters.unacknowledged.forEach((counter) => {
      batch.report(counter);
    });
    return batch;
  }
}

type DeliveryFate = 'answered' | 'answer lost' | 'never arrives' | 'arrives later';

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('spend' as const),
      writer: fc.nat(WRITERS - 1),
      nanos: fc.integer({ min: 1, max: 100 }),
      /** A call of the previous month that ends now. */
      late: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      writer: fc.nat(WRITERS - 1),
      fate: fc.constantFrom<DeliveryFate>('answered', 'answered', 'answer lost', 'never arrives', 'arrives later'),
      monthsOff: fc.constantFrom(0, 0, 0, -1, 1),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('late call' as const), nth: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), writer: fc.nat(WRITERS - 1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('evict' as const), writer: fc.nat(WRITERS - 1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('month ends' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('record' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  },
);

test('month spend: three writers on one store, any interleaving', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const agentId = `fleet-${names++}`;
      const writers = Array.from({ length: WRITERS }, () => new Writer());
      let month = FIRST_MONTH;
      /** The real spend by month. */
      const spent = new Map<number, number>();
      const recorded = new Map<number, number>();
      /**
       * Lower bound: the spend that live writers remember of the month, and what the store received and has not lost
       * since.
       */
      const lower = (): number => {
        const remembered = inTouch.reduce((sum, known) => sum + (known.get(month) ?? 0), 0);
        return Math.max(remembered, recorded.get(month) ?? 0);
      };
      /**
       * Per writer: its totals per month that the store must have, because the writer called it after the last flush.
       */
      let inTouch: Map<number, number>[] = writers.map(() => new Map());
      const own = writers.map(() => new Map<number, number>());
      /** Requests that arrive later, and the month of the store when they were sent. */
      const late: (readonly [SentBatch, number])[] = [];
      /** An evicted counter stays in the store, but its writer no longer reports it. */
      const forgetEvicted = (i: number): void => {
        for (const of of writers[i]!.takeEvictedMonths(agentId)) {
          inTouch.push(new Map([[of, inTouch[i]!.get(of) ?? 0]]));
          inTouch[i]!.delete(of);
          own[i]!.delete(of);
        }
      };
      for (const one of steps) {
        for (let i = 0; i < WRITERS; i++) forgetEvicted(i);
        switch (one.do) {
          case 'spend': {
            const of = one.late ? month - 1 : month;
            writers[one.writer]!.spend(agentId, of, one.nanos);
            spent.set(of, (spent.get(of) ?? 0) + one.nanos);
            own[one.writer]!.set(of, (own[one.writer]!.get(of) ?? 0) + one.nanos);
            break;
          }
          case 'send': {
            const ledger = { month, nanos: recorded.get(month) ?? 0 };
            const writer = writers[one.writer]!;
            const request = writer.createRequest(agentId, month + one.monthsOff, ledger);
            if (one.fate === 'never arrives' || one.fate === 'arrives later') {
              const sent = sendBatch(request);
              if (one.fate === 'arrives later') late.push([sent, month + one.monthsOff]);
              break;
            }
            const ran = await runBatch(server.admin, request, writer.createBatch, { clockUs: clockUsOf(month) });
            if (one.fate === 'answered') acknowledge(ran.batch);
            forgetEvicted(one.writer);
            for (const [of, total] of own[one.writer]!) inTouch[one.writer]!.set(of, total);
            const [, spentNanos] = spendReplyOf(ran.reply.spends, 0);
            expect(spentNanos).toBeLessThanOrEqual(spent.get(month) ?? 0);
            expect(spentNanos).toBeGreaterThanOrEqual(lower());
            break;
          }
          case 'late call': {
            const [[sent, sentMonth] = []] = late.splice(one.nth % Math.max(1, late.length), 1);
            const reply = await sent?.run(server.admin, clockUsOf(month));
            expect(reply?.spends !== undefined).toBe(sentMonth === month); // else nothing was recorded
            if (reply?.spends !== undefined)
              expect(spendReplyOf(reply.spends, 0)[1]).toBeLessThanOrEqual(spent.get(month) ?? 0);
            break;
          }
          case 'kill': {
            // Reported spend stays in the store; the rest reaches only the ledger, when the spool is read.
            writers[one.writer] = new Writer();
            own[one.writer] = new Map();
            const kept = inTouch[one.writer]!;
            inTouch.push(kept);
            inTouch[one.writer] = new Map();
            break;
          }
          case 'evict': {
            // Other scopes evict the agent's counters, if the store acknowledged all of them.
            const writer = writers[one.writer]!;
            for (let i = 0; i < 2 * OTHERS; i++)
              writer.spendCounters.getOrCreate('org-1', spendName('agent', `other-${names++}`), windowOf(month));
            break;
          }
          case 'flush':
            await server.admin.flushall();
            inTouch = writers.map(() => new Map());
            break;
          case 'month ends':
            month++;
            break;
          case 'record': {
            // Part of the spend has reached the ledger; more than before.
            for (const [of, total] of spent) {
              const before = recorded.get(of) ?? 0;
              recorded.set(of, before + Math.floor((total - before) * one.share));
            }
          }
        }
      }
    }),
  );
});

test('month spend: in process, any interleaving of spend, ledger records, restarts and month ends', async () => {
  const memoryStep = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ do: fc.constant('spend' as const), nanos: fc.nat(100), late: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('month ends' as const) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('record' as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(memoryStep, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      let month = FIRST_MONTH;
      const clock = (): number => clockUsOf(month);
      let counters = new MemoryCounters(clock);
      const spent = new Map<number, number>();
      const recorded = new Map<number, number>();
      let own = new Map<number, number>();
      const agentId = 'agent';
      for (const one of steps) {
        if (one.do === 'spend') {
          const of = one.late ? month - 1 : month;
          settleSpend(counters, agentId, one.nanos, windowOf(of).startSec);
          spent.set(of, (spent.get(of) ?? 0) + one.nanos);
          own.set(of, (own.get(of) ?? 0) + one.nanos);
        } else if (one.do === 'restart') {
          counters = new MemoryCounters(clock);
          own = new Map();
        } else if (one.do === 'month ends') {
          month++;
        } else {
          for (const [of, total] of spent) {
            const before = recorded.get(of) ?? 0;
            recorded.set(of, before + Math.floor((total - before) * one.share));
            counters.updateLedgerSpend(spendName('agent', agentId), windowOf(of), recorded.get(of)!, 0);
          }
        }
        const ledgerNanos = recorded.get(month) ?? 0;
        const floor = { spendFloorNanos: ledgerNanos, spendFloorMonth: windowOf(month).name };
        const limits = { agentId, budgetNanos: 1e15, rpmLimit: 1e6, rpdLimit: 1e6, ...floor };
        const { spentNanos } = await admit(counters, createAdmissionRequest(limits));
        expect(spentNanos).toBeLessThanOrEqual(spent.get(month) ?? 0);
        expect(spentNanos).toBeGreaterThanOrEqual(Math.max(own.get(month) ?? 0, ledgerNanos));
      }
    }),
  );
});
