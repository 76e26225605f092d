/**
 * Every item that a data plane reports counts once: every kind of item in gateway.proto, in every way of arriving
 * twice.
 */
import { readFileSync } from 'node:fs';
import type { UsageObserver } from '@acg/controlplane/ledger/usage-ingest';
import type { IReportUsageRequest } from '@acg/proto/messages';
import { describe, expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, newId, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const PROTO = new URL('../../../proto/src/gateway.proto', import.meta.url);
const COST = 1_000;
type Report = Omit<IReportUsageRequest, 'dataPlaneId' | 'lastMark'>;

/** One item of a kind, and its count in the database and in notifications: 1 is once. */
interface ItemKind {
  one(of: Ids): Report;
  counted(of: Ids): Promise<number>;
}

interface Ids {
  readonly agentId: string;
  readonly orgId: string;
  readonly keyId: string;
}

const readSum = async (query: Promise<readonly { n: number | null }[]>): Promise<number> => (await query)[0]!.n ?? 0;
const observationCounts = new Map<string, number>();
/** Counts observations of committed reports only. */
const observer: UsageObserver = {
  onBooked: async (_tx, { ipObservations: sightings }) => {
    for (const { agentId } of sightings) observationCounts.set(agentId, (observationCounts.get(agentId) ?? 0) + 1);
  },
};

/** Nano-dollars in the hours and in the month of the agent, the same in both. */
async function readCostNanos({ agentId }: Ids): Promise<number> {
  const hours = await readSum(
    db().sql`select sum(cost_nanos)::float8 as n from usage_hourly where agent_id = ${agentId}`,
  );
  const months = await readSum(
    db().sql`select sum(spent_nanos)::float8 as n from month_spend where agent_id = ${agentId}`,
  );
  expect(hours).toBe(months);
  return hours / COST;
}

const ITEM_KINDS: Readonly<Record<string, ItemKind>> = {
  records: {
    one: (of) => ({
      records: [usageRecord({ ...of, costNanos: COST, budgetRows: `${of.agentId}@2026-11-28` })],
    }),
    counted: async (of) => {
      const ofRow = await readSum(
        db().sql`select sum(spent_nanos)::float8 as n from budget_spend where budget_id = ${of.agentId}`,
      );
      expect(ofRow / COST).toBe(await readCostNanos(of));
      const requests = await readSum(
        db().sql`select sum(requests)::float8 as n from usage_hourly where agent_id = ${of.agentId}`,
      );
      expect(await readCostNanos(of)).toBe(requests);
      return requests;
    },
  },
  rejections: {
    one: ({ agentId, orgId }) => ({
      rejections: [
        { id: newId(), agentId, orgId, providerSlug: 'openai', reason: 'rpm', minuteMs: wholeMinute(), count: COST },
      ],
    }),
    counted: async ({ agentId }) =>
      (await readSum(db().sql`select sum(count)::float8 as n from rejections_hourly where agent_id = ${agentId}`)) /
      COST,
  },
  sightings: {
    one: (of) => ({ sightings: [{ id: newId(), ...of, addressHash: Buffer.from([1, 2]), seenAtMs: Date.now() }] }),
    counted: async ({ agentId }) => observationCounts.get(agentId) ?? 0,
  },
  lines: {
    one: (of) => ({
      lines: [
        {
          recordId: newId(),
          projectId: newId(),
          ...of,
          providerSlug: 'openai',
          sourceId: newId(),
          startedAtMs: Date.now(),
          lines: [{ id: 'line-1', model: 'gpt-4o-mini', tokensInUncached: 7, tokensOut: 5, costNanos: COST }],
        },
      ],
    }),
    counted: readCostNanos,
  },
};

const wholeMinute = (): number => Date.now() - (Date.now() % 60_000);

const duplicateItems = (report: Report): Report =>
  Object.fromEntries(Object.entries(report).map(([kind, items]) => [kind, [...(items ?? []), ...(items ?? [])]]));

/** Each way sends the item at least twice. */
const DUPLICATE_DELIVERIES: Readonly<Record<string, (report: Report) => Promise<void>>> = {
  'twice in one report': async (report) => void (await plane().report(duplicateItems(report))),
  'again, later': async (report) => {
    const one = plane();
    for (let times = 0; times < 3; times++) await one.report(report);
  },
  'in several reports that are booked together': async (report) => {
    const one = plane();
    // The first two are committed at once; the others wait for them and share a transaction.
    const others = [{ records: [usageRecord()] }, { records: [usageRecord()] }];
    await Promise.all([...others, report, report, duplicateItems(report)].map((each) => one.report(each)));
  },
  'over two control planes at once': async (report) => {
    const planes = [plane(), plane()];
    await Promise.all([0, 1, 0, 1].map((i) => planes[i]!.report(report)));
  },
  'again after a booking that was undone': async (report) => {
    const failing: UsageObserver = { onBooked: (tx) => tx`select 1 / 0`.then(() => undefined) };
    const undone = createIngest(db().sql, [failing]);
    await expect(undone.report({ dataPlaneId: 'd', ...report })).rejects.toThrow('observer');
    await plane().report(report);
  },
};

const plane = () => {
  const ingest = createIngest(db().sql, [observer]);
  return { report: (report: Report) => ingest.report({ dataPlaneId: 'd', ...report }) };
};

test('recorded once: every kind of item in a report is listed here', () => {
  const message = /message ReportUsageRequest \{([^}]*)\}/.exec(readFileSync(PROTO, 'utf8'))![1]!;
  expect([...message.matchAll(/repeated \w+ (\w+) =/g)].map(([, name]) => name)).toEqual(Object.keys(ITEM_KINDS));
});

describe.each(Object.entries(ITEM_KINDS))('recorded once: one of the %s', (_name, kind) => {
  test.each(Object.entries(DUPLICATE_DELIVERIES))('%s', async (_way, send) => {
    const of = { agentId: newId(), orgId: newId(), keyId: newId() };
    await send(kind.one(of));
    expect(await kind.counted(of)).toBe(1);
  });
});
