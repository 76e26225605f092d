/** Roles that may change monetary limits, and the recording of spend for the budgets of projects and organizations. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Tx } from '@acg/controlplane/db/postgres-client';
import { addProjectAndOrgMonthSpend } from '@acg/controlplane/ledger/month-spend-store';
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();

test('monetary limits and their mode require the role admin; rate limits do not', async () => {
  const admin = await plane().createMember('admin');
  const member = await plane().createMember('member', admin.orgId);
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Money' })).body.project.id;
  const { id } = (await admin.call('POST', '/v1/agents', { projectId, name: 'Agent' })).body.agent;
  const path = `/v1/agents/${id}`;
  const patches = [
    { budgetCentsMonthly: null },
    { budgetMode: 'soft' },
    { onStoreLoss: 'allow' },
    { onStoreLoss: null },
    { holdMaxOutputTokens: 1 },
  ];
  for (const patch of patches) {
    expect((await member.call('PATCH', path, patch)).status).toBe(403);
    expect((await admin.call('PATCH', path, patch)).status).toBe(200);
  }
  expect((await member.call('PATCH', path, { rpmLimit: 5, tpmLimit: 6 })).status).toBe(200);
  expect((await member.call('PATCH', `/v1/projects/${projectId}`, { budgetCentsMonthly: 1 })).status).toBe(403);
  expect((await member.call('PATCH', `/v1/orgs/${admin.orgId}`, { budgetCentsMonthly: 1 })).status).toBe(403);
});

test('what agents spend is added up for their project and organization; of a deleted one for the organization', async () => {
  const { sql } = plane().database;
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Money' })).body.project.id;
  const { id } = (await admin.call('POST', '/v1/agents', { projectId, name: 'Agent' })).body.agent;
  const { orgId } = admin;
  const month = '2026-11';
  const sums = [
    { agentId: id, orgId, month, costNanos: 5, ledgerNanos: 2 },
    { agentId: randomUUID(), orgId, month, costNanos: 7, ledgerNanos: 0 },
  ];
  for (let i = 0; i < 2; i++) await sql.begin((tx) => addProjectAndOrgMonthSpend(tx, sums));
  const rows = await sql`
    select scope, s.spent_nanos as spent, s.ledger_nanos as ledger
      from (values ('project', ${projectId}::uuid), ('org', ${orgId}::uuid)) as of (scope, id)
      cross join lateral scope_month(scope, id, ${month}) s order by scope`;
  expect([...rows]).toEqual([
    { scope: 'org', spent: 24, ledger: 4 },
    { scope: 'project', spent: 10, ledger: 4 },
  ]);
});

test('spend of one organization: concurrent writes do not wait for each other and lose no amount', async () => {
  const { sql } = plane().database;
  const orgId = randomUUID();
  const month = '2026-11';
  const add = (tx: Tx) =>
    addProjectAndOrgMonthSpend(tx, [{ agentId: randomUUID(), orgId, month, costNanos: 5, ledgerNanos: 2 }]);
  // A control plane of the release before has added to the old table.
  await sql`
    insert into scope_spend (scope, scope_id, month, spent_nanos, ledger_nanos) values ('org', ${orgId}, ${month}, 100, 10)`;
  await sql.begin(async (tx) => {
    await add(tx);
    for (let i = 0; i < 3; i++) await sql.begin(add); // while the first one has not committed
  });
  for (let i = 0; i < 3; i++) await sql.begin(add);
  const rows =
    await sql`select spent_nanos as spent, ledger_nanos as ledger from scope_month('org', ${orgId}, ${month})`;
  expect([...rows]).toEqual([{ spent: 135, ledger: 24 }]);
  expect(await sql`select slot from scope_spend_slots where scope_id = ${orgId}`).toHaveLength(2); // as many as at once
});

test('the migration resets `allow` on all agents, because it may not have been chosen, and keeps `refuse`', async () => {
  const { sql } = plane().database;
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Before' })).body.project.id;
  const before = { budgetMode: 'hard', onStoreLoss: 'allow' };
  const make = async (fields: object): Promise<string> =>
    (await admin.call('POST', '/v1/agents', { projectId, name: 'Agent', ...fields })).body.agent.id;
  const [hard, strict] = [await make(before), await make({ onStoreLoss: 'refuse' })];
  const file = new URL('../../../controlplane/src/db/migrations/0065_on_store_loss_default.sql', import.meta.url);
  await sql.unsafe(readFileSync(file, 'utf8'));
  const shown = async (id: string) => (await admin.call('GET', `/v1/agents/${id}`)).body.agent.onStoreLoss;
  expect([await shown(hard), await shown(strict)]).toEqual(['refuse', 'refuse']);
  const rows =
    await sql`select on_store_loss as stored from agents where id in (${hard}, ${strict}) order by id = ${hard}`;
  expect(rows.map(({ stored }) => stored)).toEqual(['refuse', null]);
});
