/**
 * Holds of a hard budget over three writers on one store: calls are admitted and settled while answers are under way,
 * writers are killed, leases run out, and in the middle of it a month ends.
 *
 *   never more    admitted than fits beside what is spent and what living writers hold
 *   never less    than that: nobody is refused what fits beside spend and holds whose lease still runs
 */
import { callKeys, decodeReply, encodeCall, HOLD_LEASE_MS } from '@acg/dataplane/counters/admit-call';
import { SCRIPT } from '@acg/dataplane/counters/admit-script';
import { monthOfMs } from '@acg/dataplane/counters/calendar-month';
import { REAL_WINDOWS } from '@acg/dataplane/counters/limit-table';
import { Purses } from '@acg/dataplane/counters/purses';
import { termsOf } from '@acg/dataplane/counters/testing/terms-fixture';
import { TurnBatch } from '@acg/dataplane/counters/turn-batch';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../redis-server.js';

const clocked = SCRIPT.replace("call('TIME')", '{ARGV[3], ARGV[4]}');
const WRITERS = 3;
const BUDGET = 100;
const MONTH_END_MS = Date.UTC(2026, 6);
const RENEW_MS = HOLD_LEASE_MS / 3;
/** No answer is under way for longer: the store would be taken for away. */
const ANSWER_MS_MAX = 50;

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Held {
  readonly nanos: number;
  /** Null: its answer is under way. */
  month: number | null;
}

let names = 0;

class Writer {
  readonly name = `writer-${names++}`;
  readonly purses = new Purses(10, this.name);
  /** Admitted in the store and not given back there. */
  readonly held: Held[] = [];
  /** What answers do when they arrive, in their order. */
  readonly answers: (() => void)[] = [];
  toldAtMs = 0;
  /** Unix ms; null while it lives. */
  freeAtMs: number | null = null;

  get sum(): number {
    return this.held.reduce((sum, { nanos }) => sum + nanos, 0);
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
      ms: fc.oneof(fc.integer({ min: 1, max: ANSWER_MS_MAX }), fc.integer({ min: ANSWER_MS_MAX, max: RENEW_MS })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('kill' as const), writer }) },
);

test('holds: three writers on one store, any interleaving over the end of a month', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }), async (steps) => {
      const agentId = `holds-${names++}`;
      const terms = termsOf({ agentId, budgetNanos: BUDGET, hardBudget: true, rpmLimit: 1e6, rpdLimit: 1e6 });
      const writers = Array.from({ length: WRITERS }, () => new Writer());
      const dead: Writer[] = [];
      const spent = new Map<number, number>();
      let nowMs = MONTH_END_MS - ANSWER_MS_MAX;

      const run = async (by: Writer, batch: TurnBatch) => {
        batch.seal();
        const month = monthOfMs(nowMs);
        const header = { windows: REAL_WINDOWS, month, probe: false, probeTag: '' };
        const keys = callKeys(header, batch);
        const clock = [Math.floor(nowMs / 1000), (nowMs % 1000) * 1000];
        const sent = ['EVAL', clocked, keys.length, ...keys, encodeCall(header, batch), by.name, ...clock] as const;
        const answer = (await server.admin.callBuffer(...(sent as unknown as [string, ...string[]]))) as Buffer;
        const reply = decodeReply(answer, batch, month)!;
        by.toldAtMs = nowMs;
        by.answers.push(() => {
          for (const { purse, total, sentNanos } of batch.purses) {
            if (total !== null) purse.confirm(total, sentNanos, performance.now());
          }
          batch.deliver(reply, false);
        });
        return reply;
      };
      const tell = async (by: Writer): Promise<void> => {
        const batch = new TurnBatch(0, by.purses);
        batch.report(by.purses.of(agentId));
        await run(by, batch);
      };

      for (const one of steps) {
        const month = monthOfMs(nowMs);
        switch (one.do) {
          case 'admit': {
            const by = writers[one.writer]!;
            const call: Held = { nanos: one.nanos, month: null };
            const batch = new TurnBatch(0, by.purses);
            batch.admit(terms, 'openai', terms.budgets, one.nanos, (admission) => {
              call.month = admission.month;
            });
            const taken = (spent.get(month) ?? 0) + one.nanos + writers.reduce((sum, { sum: held }) => sum + held, 0);
            const leased = dead.reduce((sum, { sum: held, freeAtMs }) => sum + (nowMs < freeAtMs! ? held : 0), 0);
            const { verdicts } = await run(by, batch);
            const { admitted } = verdicts[0]!;
            if (taken > BUDGET) expect(admitted).toBe(0);
            if (taken + leased <= BUDGET) expect(admitted).toBe(1);
            if (admitted === 1) by.held.push(call);
            break;
          }
          case 'answer':
            writers[one.writer]!.answers.shift()?.();
            break;
          case 'settle': {
            const by = writers[one.writer]!;
            const known = by.held.filter(({ month: of }) => of !== null);
            const call = known[one.nth % Math.max(1, known.length)];
            if (call === undefined) break;
            by.held.splice(by.held.indexOf(call), 1);
            const cost = Math.floor(call.nanos * one.share);
            const purse = by.purses.of(agentId);
            if (cost > 0) purse.spend(call.month!, cost);
            purse.release(call.nanos);
            spent.set(call.month!, (spent.get(call.month!) ?? 0) + cost);
            await tell(by);
            break;
          }
          case 'time':
            if (one.ms >= ANSWER_MS_MAX) for (const by of writers) for (const arrive of by.answers.splice(0)) arrive();
            nowMs += one.ms;
            for (const by of writers) if (by.sum > 0 && nowMs - by.toldAtMs >= RENEW_MS) await tell(by);
            break;
          case 'kill': {
            const killed = writers[one.writer]!;
            killed.freeAtMs = killed.toldAtMs + HOLD_LEASE_MS;
            dead.push(killed);
            writers[one.writer] = new Writer();
          }
        }
      }
    }),
    { numRuns: 300 },
  );
});
