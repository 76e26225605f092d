/**
 * Reservations of hard budgets over three writers on one store: calls are admitted and settled while replies are in
 * flight, reservations grow, replies are lost, writers are killed, leases expire, and a day, a week and a month end
 * meanwhile. Also in random trees of runs, where a call counts in its run and in all runs above it.
 *
 *   never more    admitted than fits beside spend and the reservations of live writers; no budget books more than its limit
 *   never less    than that: no call is rejected that fits beside spend and reservations whose lease still runs
 */

import { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import { RESERVATION_LEASE_MS } from '@acg/dataplane/counters/redis/script/admit-script';
import { SpendCounters } from '@acg/dataplane/counters/redis/spend-counters';
import type { AgentLimits } from '@acg/dataplane/limits/agent-limits';
import type { BudgetRow } from '@acg/dataplane/limits/budget-row';
import { createTestBudget, createTestLimits } from '@acg/dataplane/limits/testing/agent-limits-fixture';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RedisServer } from '../fixtures/redis-server.js';
import { acknowledge, runBatch } from './run-admit-script.js';

const WRITERS = 3;
/** The end of a day, of a week and of a month: 1 June 2026 is a Monday. */
const WINDOWS_END_MS = Date.UTC(2026, 5);
const RENEW_INTERVAL_MS = RESERVATION_LEASE_MS / 3;
/** No reply takes longer: the store would count as unavailable. */
const MAX_ANSWER_MS = 50;

type RowSetup = readonly [window: 'day' | 'week' | 'total', limitNanos: number];

/** A run: its budget, and which of the runs before it is its parent; none for the first run. */
interface RunNode {
  readonly limitNanos: number;
  readonly parent: number;
}

/** Runs as deep as the API allows. */
const DEPTH_MAX = 4;
const runTree = fc.array(fc.record({ limitNanos: fc.integer({ min: 20, max: 200 }), parent: fc.nat(99) }), {
  minLength: 1,
  maxLength: 9,
});

type CreateLimits = (agentId: string, tree: readonly RunNode[]) => readonly AgentLimits[];

/** `monthly`: the agent's plain monthly budget. */
const createLimits = (agentId: string, monthly: number | null, rows: readonly BudgetRow[]): AgentLimits =>
  createTestLimits({ agentId, budgetNanos: monthly, hardBudget: true, rpmLimit: 1e6, rpdLimit: 1e6, budgets: rows });

/** One kind of calls, which counts in hard rows of these windows. */
const ofAgent =
  (monthly: number | null, setup: readonly RowSetup[]): CreateLimits =>
  (agentId) => [
    createLimits(agentId, monthly, [
      ...setup.map(([window, limitNanos]) =>
        createTestBudget({ id: `${agentId}-${window}`, window, limitNanos, mode: 'hard' }),
      ),
      createTestBudget({ id: `${agentId}-soft`, window: 'week', limitNanos: 1e9 }),
      createTestBudget({ id: `${agentId}-audit`, window: 'day', limitNanos: 1, mode: 'audit' }),
    ]),
  ];

/** Calls of each run: they count in the run, in all runs above it, and in the agent's month. */
const ofRuns: CreateLimits = (agentId, tree) => {
  const paths: BudgetRow[][] = [];
  tree.forEach(({ limitNanos, parent }, i) => {
    const above = i === 0 ? [] : paths[parent % i]!;
    const id = `${agentId}-run-${i}`;
    const keptUntilSec = WINDOWS_END_MS / 1000 + 86_400;
    const run = { id, scope: 'run', scopeId: id, window: 'total', mode: 'hard', limitNanos, keptUntilSec } as const;
    paths.push([...above.slice(0, DEPTH_MAX - 1), createTestBudget(run)]);
  });
  return paths.map((rows) => createLimits(agentId, 300, rows));
};

const SETUPS: readonly (readonly [name: string, create: CreateLimits])[] = [
  ['the plain monthly budget', ofAgent(100, [])],
  ['a day', ofAgent(null, [['day', 100]])],
  ['all time', ofAgent(null, [['total', 160]])],
  [
    'day, week, month and all time together',
    ofAgent(150, [
      ['day', 100],
      ['week', 120],
      ['total', 300],
    ]),
  ],
  ['a tree of runs', ofRuns],
];

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

interface Reservation {
  nanos: number;
  readonly limits: AgentLimits;
  /** When the call was admitted, Unix seconds; its windows have the reservation. */
  readonly admittedAtSec: number;
  /** The reply has arrived. */
  isKnown: boolean;
}

const isHard = ({ mode }: BudgetRow): boolean => mode === 'hard';
const windowOf = (row: BudgetRow, unixSec: number): string => row.windowsAt(unixSec)[0]!.name;
let names = 0;

class Writer {
  readonly name = `writer-${names++}`;
  readonly spendCounters = new SpendCounters(1_000, this.name);
  /** Admitted in the store and not released there. */
  readonly reservations: Reservation[] = [];
  /** Batches whose replies are on their way, and the effects of the replies. */
  readonly inflight: { readonly batch: AdmissionBatch; readonly onReply: () => void }[] = [];
  /** By key: when the store has last received the writer's reservations, Unix ms. */
  readonly reportedAtMs = new Map<string, number>();

  reservedNanos(row: BudgetRow, window: string): number {
    const inWindow = this.reservations.filter(
      ({ limits, admittedAtSec }) => limits.budgets.includes(row) && windowOf(row, admittedAtSec) === window,
    );
    return inWindow.reduce((sum, { nanos }) => sum + nanos, 0);
  }
}

const writer = fc.nat(WRITERS - 1);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      writer,
      run: fc.nat(99),
      nanos: fc.integer({ min: 1, max: 60 }),
    }),
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
      share: fc.double({ min: 0, max: 1, noNaN: true }),
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

const schedule = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });

test.each(SETUPS)('reservations: three writers on one store, any interleaving: %s', async (_name, create) => {
  await fc.assert(
    fc.asyncProperty(runTree, schedule, async (tree, steps) => {
      const limitsOfRuns = create(`holds-${names++}`, tree);
      const hardRows = [...new Set(limitsOfRuns.flatMap(({ checkedBudgets }) => checkedBudgets.filter(isHard)))];
      const writers = Array.from({ length: WRITERS }, () => new Writer());
      const dead: Writer[] = [];
      /** By row and window. */
      const spent = new Map<string, number>();
      let nowMs = WINDOWS_END_MS - MAX_ANSWER_MS;

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
      const counterAt = (by: Writer, row: BudgetRow, unixSec: number) =>
        by.spendCounters.getOrCreate(limitsOfRuns[0]!.orgId, row.name, row.windowsAt(unixSec)[0]!);
      const report = (by: Writer, rows: readonly BudgetRow[], unixSec: number) =>
        run(by, (batch) => {
          for (const row of rows) batch.report(counterAt(by, row, unixSec));
        });
      /** What counts in a row at an instant beside `nanos`, and what dead writers may still hold in it. */
      const taken = (row: BudgetRow, unixSec: number, nanos: number) => {
        let [sum, leased] = [nanos, 0];
        for (const { name: window, startSec } of row.windowsAt(unixSec, Math.floor(nowMs / 1000))) {
          const { key } = counterAt(new Writer(), row, startSec);
          sum += spent.get(`${row.name} ${window}`) ?? 0;
          for (const by of writers) sum += by.reservedNanos(row, window);
          for (const by of dead) {
            const freeAtMs = (by.reportedAtMs.get(key) ?? 0) + RESERVATION_LEASE_MS;
            if (nowMs < freeAtMs) leased += by.reservedNanos(row, window);
          }
        }
        return { fits: sum <= row.limitNanos, fitsBesideLeased: sum + leased <= row.limitNanos };
      };
      const takenInAll = ({ checkedBudgets }: AgentLimits, unixSec: number, nanos: number) =>
        checkedBudgets.filter(isHard).map((row) => taken(row, unixSec, nanos));
      const expectVerdict = (admitted: number, rows: ReturnType<typeof takenInAll>): void => {
        if (!rows.every(({ fits }) => fits)) expect(admitted).toBe(0);
        if (rows.every(({ fitsBesideLeased }) => fitsBesideLeased)) expect(admitted).toBe(1);
      };

      for (const one of steps) {
        const nowSec = Math.floor(nowMs / 1000);
        switch (one.do) {
          case 'admit': {
            const by = writers[one.writer]!;
            const limits = limitsOfRuns[one.run % limitsOfRuns.length]!;
            const call: Reservation = { nanos: one.nanos, limits, admittedAtSec: nowSec, isKnown: false };
            const before = takenInAll(limits, nowSec, one.nanos);
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
            const { limits, admittedAtSec } = call;
            const before = takenInAll(limits, admittedAtSec, one.nanos);
            const growth: Reservation = { nanos: one.nanos, limits, admittedAtSec, isKnown: false };
            const reply = await run(by, (batch) =>
              batch.grow(limits, admittedAtSec, one.nanos, () => {
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
            for (const row of call.limits.checkedBudgets) {
              const counter = counterAt(by, row, call.admittedAtSec);
              if (cost > 0) counter.addSpend(cost);
              if (isHard(row)) counter.release(call.nanos);
              const at = `${row.name} ${windowOf(row, call.admittedAtSec)}`;
              const sum = (spent.get(at) ?? 0) + cost;
              spent.set(at, sum);
              if (isHard(row)) expect(sum).toBeLessThanOrEqual(row.limitNanos);
            }
            await report(by, call.limits.checkedBudgets, call.admittedAtSec);
            break;
          }
          case 'time':
            if (one.ms >= MAX_ANSWER_MS)
              for (const by of writers) for (const { onReply } of by.inflight.splice(0)) onReply();
            nowMs += one.ms;
            for (const by of writers) {
              for (const atMs of [WINDOWS_END_MS - 1, WINDOWS_END_MS]) {
                const counters = hardRows.map((row) => counterAt(by, row, atMs / 1000));
                const isDue = counters.some(
                  ({ key, reservedNanos }) =>
                    reservedNanos > 0 && nowMs - (by.reportedAtMs.get(key) ?? 0) >= RENEW_INTERVAL_MS,
                );
                if (isDue) await report(by, hardRows, atMs / 1000);
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
