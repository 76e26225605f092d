/** Nightly checks of bills: several at once, each account once, and no slow provider or tenant that others wait for. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceivedRequest } from '@acg/stand-in-provider/stand-in-provider';
import type { StandInResponse } from '@acg/stand-in-provider/stand-in-response';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, type TestControlPlane } from '../fixtures/control-plane.js';
import { BILLING_ADMIN_KEY, BillingReportsStandIn } from '../stand-in-providers/billing-reports.js';

/** In a later month: the next check of an account is due after the test. */
const NOW_MS = Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 20, 12);

class SlowReports extends BillingReportsStandIn {
  /** Responses wait for it. */
  gate: Promise<void> = Promise.resolve();

  protected override async respond(request: ReceivedRequest): Promise<StandInResponse> {
    await this.gate;
    return super.respond(request);
  }
}

const [fast, slow] = [new BillingReportsStandIn(), new SlowReports()];
const home = mkdtempSync(join(tmpdir(), 'acg-nightly-billing-'));
let plane: TestControlPlane;
beforeAll(async () => {
  for (const reports of [fast, slow]) await reports.start();
  const file = join(home, 'providers.json');
  writeFileSync(file, JSON.stringify({ openai: { baseUrl: fast.origin }, anthropic: { baseUrl: slow.origin } }));
  plane = await startControlPlane({ PROVIDERS_FILE: file });
});
afterEach(async () => {
  await plane.database.sql`delete from billing_accounts`;
});
afterAll(async () => {
  await plane.stop();
  for (const reports of [fast, slow]) await reports.close();
  rmSync(home, { recursive: true, force: true });
});

async function addAccount(owner: Member, body: { api: string; providerSlug?: string }): Promise<string> {
  const input = { name: 'Bill', adminKey: BILLING_ADMIN_KEY, ...body };
  const { body: reply } = await owner.call('POST', '/v1/billing/accounts', input);
  return reply.account.id;
}
const startDue = () => plane.service.billing.checks.startDue(() => NOW_MS);
const idsWhere = async (condition: string): Promise<readonly string[]> =>
  (await plane.database.sql.unsafe<{ id: string }[]>(`select id from billing_accounts where ${condition}`)).map(
    ({ id }) => id,
  );
const checkedIds = () => idsWhere('checked_at is not null');
const leasedIds = () => idsWhere('lease is not null');

/** Answers nothing until `work` has ended. */
async function whileSlowHangs(work: () => Promise<void>): Promise<void> {
  let open = (): void => undefined;
  slow.gate = new Promise((resolve) => {
    open = resolve;
  });
  try {
    await work();
  } finally {
    open();
  }
}

test('a provider that does not answer gets half of the slots, and bills of others are checked meanwhile', async () => {
  const [slowIds, fastIds]: [string[], string[]] = [[], []];
  for (let i = 0; i < 5; i++) slowIds.push(await addAccount(await plane.createMember('owner'), { api: 'anthropic' }));
  for (let i = 0; i < 5; i++) fastIds.push(await addAccount(await plane.createMember('owner'), { api: 'openai' }));
  await whileSlowHangs(async () => {
    await startDue();
    await expect.poll(async () => (await checkedIds()).toSorted()).toEqual(fastIds.toSorted());
    await startDue(); // as five minutes later
    expect(await leasedIds()).toHaveLength(2);
    for (const id of await leasedIds()) expect(slowIds).toContain(id);
  });
  await expect.poll(async () => (await checkedIds()).length).toBe(10);
  expect(await leasedIds()).toEqual([]);
});

test('a tenant whose own servers do not answer gets half of the slots', async () => {
  const owner = await plane.createMember('owner');
  for (const slug of ['router-a', 'router-b', 'router-c', 'router-d']) {
    const provider = { slug, displayName: slug, baseUrl: `${slow.origin}/api`, authType: 'bearer' };
    expect((await owner.call('POST', '/v1/custom-providers', provider)).status).toBe(201);
    await addAccount(owner, { api: 'openrouter', providerSlug: slug });
  }
  const other = await addAccount(await plane.createMember('owner'), { api: 'openai' });
  await whileSlowHangs(async () => {
    await startDue();
    await expect.poll(checkedIds).toEqual([other]);
    expect(await leasedIds()).toHaveLength(2);
  });
  await expect.poll(async () => (await checkedIds()).length).toBe(5);
});

test('a check on request does not wait for slow ones of another organization', async () => {
  const owner = await plane.createMember('owner');
  const { checks } = plane.service.billing;
  const month = new Date(NOW_MS).toISOString().slice(0, 7);
  const slowIds: string[] = [];
  for (const slug of ['router-a', 'router-b', 'router-c']) {
    const provider = { slug, displayName: slug, baseUrl: `${slow.origin}/api`, authType: 'bearer' };
    expect((await owner.call('POST', '/v1/custom-providers', provider)).status).toBe(201);
    slowIds.push(await addAccount(owner, { api: 'openrouter', providerSlug: slug }));
  }
  const second = await plane.createMember('owner');
  const otherId = await addAccount(second, { api: 'openai' });
  let running: Promise<unknown>[] = [];
  await whileSlowHangs(async () => {
    running = slowIds.map((id) => checks.runNow(owner.orgId, id, month, NOW_MS));
    expect(await checks.runNow(second.orgId, otherId, month, NOW_MS)).toEqual({ problem: null });
    await expect.poll(async () => (await leasedIds()).length).toBe(2);
  });
  expect(await Promise.all(running)).toEqual(slowIds.map(() => ({ problem: null })));
});

test('two control planes at once check each account once', async () => {
  for (let i = 0; i < 8; i++) await addAccount(await plane.createMember('owner'), { api: 'openai' });
  const before = fast.requests.length;
  await Promise.all([startDue(), startDue(), startDue()]);
  await expect.poll(async () => (await checkedIds()).length).toBe(8);
  await startDue();
  const lists = fast.requests.slice(before).filter(({ path }) => path === '/v1/organization/projects');
  expect(lists).toHaveLength(8);
  expect(await idsWhere('next_check_at <= now()')).toEqual([]);
});
