/** Spend of budget rows in the ledger: booked once with the record, by the line's own model, and from the start of a window. */

import { isoWeekOf } from '@acg/base/budget-rows';
import { replaceBudgetRows } from '@acg/controlplane/budgets/budget-row-store';
import type { BudgetRowSpec } from '@acg/controlplane/budgets/merge-budget-fields';
import { detectReachedBudgetRows, sweepBudgetRowAlerts } from '@acg/controlplane/detectors/budget-row-alerts';
import { detectWouldReject } from '@acg/controlplane/detectors/would-reject-alerts';
import type { UsageObserver } from '@acg/controlplane/ledger/usage-ingest';
import { expect, test } from 'vitest';
import { useTestDatabase } from '../fixtures/test-database.js';
import { createIngest, insertAgent, newId, usageRecord } from './usage-fixture.js';

const db = useTestDatabase();
const CENT = 10_000_000;
const NOW = Date.now();
const DAY = new Date(NOW).toISOString().slice(0, 10);
const MONTH = DAY.slice(0, 7);
const WEEK = isoWeekOf(DAY);
const observer: UsageObserver = {
  onBooked: async (tx, { entries, budgetPeriods }) => {
    await detectReachedBudgetRows(tx, budgetPeriods);
    await detectWouldReject(tx, entries);
  },
};

interface Scene {
  readonly orgId: string;
  readonly agentId: string;
  readonly projectId: string;
}

async function createScene(): Promise<Scene> {
  const orgId = newId();
  await db().sql`insert into organizations (id, name, slug) values (${orgId}, 'O', ${orgId})`;
  const { id } = await insertAgent(db().sql, orgId);
  const [agent] = await db().sql<
    { projectId: string }[]
  >`select project_id as "projectId" from agents where id = ${id}`;
  return { orgId, agentId: id, projectId: agent!.projectId };
}

/** Creates rows of the agent, in this order. Returns their ids. */
async function createRows({ orgId, agentId }: Scene, rows: readonly Partial<BudgetRowSpec>[]): Promise<string[]> {
  const specs = rows.map((row) => ({
    window: 'day' as const,
    models: [],
    tag: '',
    id: undefined,
    cents: 100,
    mode: 'soft' as const,
    ...row,
  }));
  await db().sql.begin((tx) => replaceBudgetRows(tx, { orgId, scope: 'agent', id: agentId }, specs, Date.now()));
  const stored = await db().sql<{ id: string }[]>`select id from budgets where scope_id = ${agentId} order by position`;
  return stored.map(({ id }) => id);
}

const spendOf = async (budgetId: string): Promise<Record<string, [spent: number, ledger: number]>> => {
  const rows = await db().sql<{ period: string; spent: number; ledger: number }[]>`
    select period, sum(spent_nanos)::bigint as spent, sum(ledger_nanos)::bigint as ledger from budget_spend
     where budget_id = ${budgetId}
       and org_id = coalesce((select org_id from budgets where id = ${budgetId}), org_id)
     group by period`;
  return Object.fromEntries(rows.map(({ period, spent, ledger }) => [period, [spent, ledger]]));
};

test('shares of a cell are booked with the record, once for any number of sends, and answered', async () => {
  const scene = await createScene();
  const row = (await createRows(scene, [{ mode: 'hard' }]))[0]!;
  const planes = [createIngest(db().sql), createIngest(db().sql)];
  const of = (cell: string) => ({
    dataPlaneId: 'dp',
    records: Array.from({ length: 10 }, () =>
      usageRecord({
        ...scene,
        costNanos: 1_000,
        day: DAY,
        budgetRows: `${row}@${DAY},${row}@${DAY}/${cell},${scene.agentId}@${MONTH}/${cell},${row}@${DAY}/NO,x@${DAY}/eu`,
      }),
    ),
  });
  const [eu, us] = [of('eu'), of('us')];
  await Promise.all(planes.flatMap(({ report }) => [report(eu), report(us), report(eu)]));
  const answer = await planes[0]!.report(eu);
  const inCell = (budgetId: string, window: string) => ({ budgetId, window, spentNanos: 10_000, ledgerNanos: 0 });
  expect([...answer.budgets!].sort((a, b) => (a.window! < b.window! ? -1 : 1))).toEqual([
    { budgetId: row, window: DAY, spentNanos: 20_000, ledgerNanos: 0 },
    inCell(row, `${DAY}/eu`),
    inCell(scene.agentId, `${MONTH}/eu`),
  ]);
  expect(
    await db().sql`select budget_id, period, cell, sum(spent_nanos)::int as nanos from cell_spend
      where org_id = ${scene.orgId} group by 1, 2, 3 order by length(period), cell`,
  ).toEqual(
    (
      [
        [scene.agentId, MONTH],
        [row, DAY],
      ] as const
    ).flatMap(([budget_id, period]) => ['eu', 'us'].map((cell) => ({ budget_id, period, cell, nanos: 10_000 }))),
  );
});

test('rows of a record are booked with it, once for any number of sends, and answered', async () => {
  const scene = await createScene();
  const [row, run] = [(await createRows(scene, [{}]))[0]!, newId()];
  const planes = [createIngest(db().sql, [observer]), createIngest(db().sql, [observer])];
  const records = Array.from({ length: 20 }, () =>
    usageRecord({ ...scene, costNanos: 1_000, day: DAY, budgetRows: `${row}@${DAY},${run}@total,nonsense,x@y` }),
  );
  const request = { dataPlaneId: 'dp', records };
  await Promise.all(planes.flatMap(({ report }) => [report(request), report(request)]));
  const answer = await planes[0]!.report(request);
  expect([await spendOf(row), await spendOf(run)]).toEqual([{ [DAY]: [20_000, 0] }, { total: [20_000, 0] }]);
  expect([...answer.budgets!].sort((a, b) => (a.window! < b.window! ? -1 : 1))).toEqual([
    { budgetId: row, window: DAY, spentNanos: 20_000, ledgerNanos: 0 },
    { budgetId: run, window: 'total', spentNanos: 20_000, ledgerNanos: 0 },
  ]);
});

test('a record of another organization does not add to a row that it names', async () => {
  const [scene, other] = [await createScene(), await createScene()];
  const row = (await createRows(scene, [{}]))[0]!;
  const { report } = createIngest(db().sql);
  const budgetRows = `${row}@${DAY}`;
  await report({ dataPlaneId: 'dp', records: [usageRecord({ ...scene, costNanos: 7, budgetRows })] });
  const answer = await report({
    dataPlaneId: 'dp',
    records: [usageRecord({ ...other, costNanos: 9_000, budgetRows })],
  });
  expect(await spendOf(row)).toEqual({ [DAY]: [7, 0] });
  // Sums are kept per organization: the answer is what the record's own organization has spent under that id.
  expect(answer.budgets).toEqual([{ budgetId: row, window: DAY, spentNanos: 9_000, ledgerNanos: 0 }]);
});

test('deferred usage counts in the rows of its own model and tags, also for project and organization', async () => {
  const scene = await createScene();
  const rows = await createRows(scene, [
    { models: ['gpt-5*'] },
    { models: ['o3'], window: 'week' },
    { tag: 'customer=acme', window: 'month' },
    { tag: 'customer=other', window: 'month' },
  ]);
  const [projectRow] = await db().sql<{ id: string }[]>`
    insert into budgets (id, org_id, project_id, time_window, cents, mode)
    values (${newId()}, ${scene.orgId}, ${scene.projectId}, 'total', 5, 'soft') returning id`;
  const runId = newId();
  await db().sql`
    insert into runs (id, org_id, agent_id, root_id, budget_cents, token_hash, key_prefix, created_at, expires_at)
    values (${runId}, ${scene.orgId}, ${scene.agentId}, ${runId}, 100, ${Buffer.from(runId)}, 'acg_', now(),
            now() + interval '1 hour')`;
  const call = { recordId: newId(), ...scene, keyId: newId(), providerSlug: 'openai', startedAtMs: NOW, month: MONTH };
  const lines = [
    { id: 'a', model: 'GPT-5-mini', costNanos: 100 },
    { id: 'b', model: 'o3', costNanos: 10 },
    { id: 'c', model: '', costNanos: 1 },
  ];
  const usage = { ...call, sourceId: 'file', day: DAY, tags: 'customer=acme,feature=x', runId, lines };
  const { report } = createIngest(db().sql);
  const request = { dataPlaneId: 'dp', lines: [usage] };
  await report(request);
  const answer = await report(request);
  expect(await Promise.all([...rows, projectRow!.id, runId].map(spendOf))).toEqual([
    { [DAY]: [101, 101] },
    { [WEEK]: [11, 11] },
    { [MONTH]: [111, 111] },
    {},
    { [MONTH]: [111, 111] },
    { total: [111, 111] },
  ]);
  expect(answer.budgets).toContainEqual({ budgetId: rows[0], window: DAY, spentNanos: 101, ledgerNanos: 101 });
});

test('a new row starts from the spend of its window that it would have counted', async () => {
  const scene = await createScene();
  const { report } = createIngest(db().sql);
  const call = (model: string, costNanos: number, tags = '') =>
    usageRecord({ ...scene, model, costNanos, tags, day: DAY, startedAtMs: NOW });
  await report({
    dataPlaneId: 'dp',
    records: [
      call('gpt-5-mini', 1),
      call('o3', 10, 'customer=acme,feature=x'),
      call('', 100),
      call('my_model%', 1_000),
      usageRecord({ ...scene, costNanos: 50_000, startedAtMs: NOW - 40 * 86_400_000 }),
    ],
  });
  const rows = await createRows(scene, [
    {},
    { models: ['gpt-5*'], window: 'week' },
    { models: ['my_model%', 'mymodel'], window: 'month' },
    { tag: 'customer=acme' },
    { tag: 'customer=ac' },
    { window: 'total' },
    { window: 'total', models: ['o3'] },
  ]);
  const old = new Date(NOW - 40 * 86_400_000).toISOString().slice(0, 7);
  expect(await Promise.all(rows.map(spendOf))).toEqual([
    { [DAY]: [1_111, 1_111] },
    { [WEEK]: [101, 101] },
    { [MONTH]: [1_100, 1_100] },
    { [DAY]: [10, 10] },
    {},
    { [MONTH]: [1_111, 1_111], [old]: [50_000, 50_000] },
    { [MONTH]: [110, 110] },
  ]);
});

test('budget.exceeded and budget.threshold once per row and window; limit.would_reject once per window', async () => {
  const scene = await createScene();
  const { sql } = db();
  const [row, audited] = await createRows(scene, [{ cents: 2 }, { cents: 1, window: 'week', mode: 'audit' }]);
  const { report } = createIngest(sql, [observer]);
  const book = (costNanos: number, changes: object = {}) =>
    report({
      dataPlaneId: 'dp',
      records: [
        usageRecord({ ...scene, costNanos, day: DAY, budgetRows: `${row}@${DAY},${audited}@${WEEK}`, ...changes }),
      ],
    });
  const events = async () =>
    (
      await sql<
        { event: string; data: Record<string, unknown> }[]
      >`select event, data from events where org_id = ${scene.orgId} order by id`
    ).map(({ event, data }) => [event, data.budgetId, data.thresholdPercent ?? data.window]);
  await book(CENT / 2);
  expect(await events()).toEqual([]);
  await book(CENT * 1.2, { wouldReject: `budget:${audited},rpm` });
  await book(CENT, { wouldReject: `budget:${audited},rpm,unknown` });
  await sweepBudgetRowAlerts(sql);
  expect((await events()).sort()).toEqual(
    [
      ['budget.exceeded', row, 'day'],
      ['budget.exceeded', audited, 'week'],
      ['budget.threshold', row, 80],
      ['budget.threshold', audited, 80],
      ['limit.would_reject', audited, WEEK],
      ['limit.would_reject', null, DAY],
    ].sort(),
  );
});
