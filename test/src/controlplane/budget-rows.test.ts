/** Budget rows of agents, projects and organizations: validation, defaults, contexts, spend at creation. */
import { createHash } from 'node:crypto';
import type { AgentRow } from '@acg/controlplane/contexts/agent-context-store';
import { loadContextRows } from '@acg/controlplane/contexts/agent-context-store';
import { assembleAgentContext } from '@acg/controlplane/contexts/assemble-agent-context';
import { expect, test } from 'vitest';
import type { ApiResponse } from '../fixtures/api-call.js';
import type { Member } from '../fixtures/control-plane.js';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const DAY = { window: 'day', cents: 500 };

async function createAgent(
  admin: Member,
  fields: object = {},
): Promise<{ id: string; projectId: string; body: ApiResponse['body'] }> {
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Rows' })).body.project.id;
  const { status, body } = await admin.call('POST', '/v1/agents', { projectId, name: 'Agent', ...fields });
  expect(status, JSON.stringify(body)).toBe(201);
  const { agent } = (await admin.call('GET', `/v1/agents/${body.agent.id}`)).body;
  return { id: agent.id, projectId, body: agent };
}

/** What a data plane would get for a gateway token of the agent. */
async function contextOf(admin: Member, agentId: string, cell = '') {
  const { secretKey } = (await admin.call('POST', '/v1/api-keys', { name: 'k', agentId })).body;
  const tokenHash = createHash('sha256').update(secretKey).digest();
  const queries = [{ tokenHash, agentRef: '', agentRefId: null }];
  const [row] = await loadContextRows(plane().database.sql, queries, true, cell);
  const agent = row!.agents[0] as AgentRow;
  return assembleAgentContext(
    row!.key!,
    agent,
    { get: () => null } as never,
    { credentials: () => null, minted: () => null },
    () => '',
  );
}

const withoutSpend = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ id: _id, spentCents: _spent, resetAt: _reset, ...row }) => row);

test('rows of every window are stored beside the plain monthly one, and replaced as a list', async () => {
  const admin = await plane().createMember('admin');
  const { id, body } = await createAgent(admin, {
    budgetCentsMonthly: 5_000,
    budgets: [
      DAY,
      { window: 'week', cents: 900, models: ['o3*', 'gpt-5'], mode: 'hard' },
      { window: 'total', cents: 9, tag: 'customer=acme' },
    ],
  });
  expect(withoutSpend(body.budgets)).toEqual([
    { window: 'month', cents: 5_000, models: [], mode: 'soft' },
    { window: 'day', cents: 500, models: [], mode: 'soft' },
    { window: 'week', cents: 900, models: ['gpt-5', 'o3*'], mode: 'hard' },
    { window: 'total', cents: 9, models: [], tag: 'customer=acme', mode: 'soft' },
  ]);
  expect(body.onStoreLoss).toBe('refuse'); // because of the hard row
  expect(body.budgets[3].resetAt).toBeNull();
  const path = `/v1/agents/${id}`;
  const dayId = body.budgets[1].id;
  const changed = (await admin.call('PATCH', path, { budgets: [{ ...DAY, id: dayId, cents: 1, mode: 'audit' }] })).body
    .agent;
  expect(withoutSpend(changed.budgets)).toEqual([{ window: 'day', cents: 1, models: [], mode: 'audit' }]);
  expect(changed.budgets[0].id).toBe(dayId); // the same row
  expect([changed.budgetCentsMonthly, changed.onStoreLoss]).toEqual([null, 'allow']);
  const [entry] = (await admin.call('GET', '/v1/audit?action=agent.update')).body.entries;
  expect(entry.changes.budgets[1]).toEqual([{ window: 'day', cents: 1, mode: 'audit' }]);
});

test('contradictions of old and new fields, repeated rows and unknown ids are 400 with the fields in the text', async () => {
  const admin = await plane().createMember('admin');
  const { id, projectId } = await createAgent(admin);
  const month = { window: 'month', cents: 10 };
  const cases: [string, object, RegExp][] = [
    [
      `/v1/agents/${id}`,
      { budgetCentsMonthly: 5, budgets: [month] },
      /budgetCentsMonthly \(5\) and budgets\[0\]\.cents \(10\)/,
    ],
    [
      `/v1/agents/${id}`,
      { budgetMode: 'hard', budgets: [{ ...month, mode: 'audit' }] },
      /budgetMode \(hard\) and budgets\[0\]\.mode/,
    ],
    [`/v1/agents/${id}`, { budgets: [DAY, { ...DAY, cents: 2 }] }, /budgets\[0\] and budgets\[1\]/],
    [
      `/v1/agents/${id}`,
      {
        budgets: [
          { ...DAY, models: ['a', 'b'] },
          { ...DAY, models: ['b', 'a'] },
        ],
      },
      /budgets\[0\] and budgets\[1\]/,
    ],
    [`/v1/agents/${id}`, { budgets: [{ ...DAY, id: projectId }] }, /budgets\[0\]\.id/],
    [`/v1/agents/${id}`, { budgets: [{ ...DAY, tag: 'customer' }] }, /tag/],
    [`/v1/agents/${id}`, { budgets: [{ ...DAY, window: 'hour' }] }, /window/],
    [`/v1/agents/${id}`, { budgets: Array.from({ length: 21 }, (_, i) => ({ ...DAY, tag: `k=${i}` })) }, /budgets/],
    [`/v1/projects/${projectId}`, { budgetCentsMonthly: null, budgets: [month] }, /budgetCentsMonthly \(null\)/],
    [`/v1/orgs/${admin.orgId}`, { budgetCentsMonthly: 3, budgets: [month] }, /budgetCentsMonthly \(3\)/],
    [`/v1/projects/${projectId}`, { agentDefaults: { budgets: [DAY, DAY] } }, /budgets\[0\] and budgets\[1\]/],
  ];
  for (const [path, patch, text] of cases) {
    const { status, body } = await admin.call('PATCH', path, patch);
    expect([status, body.error], JSON.stringify(patch)).toEqual([400, expect.stringMatching(text)]);
  }
});

test('budgets and audit mode require the role admin', async () => {
  const admin = await plane().createMember('admin');
  const member = await plane().createMember('member', admin.orgId);
  const stranger = await plane().createMember('owner');
  const { id, projectId } = await createAgent(admin);
  for (const [path, patch] of [
    [`/v1/agents/${id}`, { budgets: [DAY] }],
    [`/v1/agents/${id}`, { auditLimits: ['rpm'] }],
    [`/v1/projects/${projectId}`, { budgets: [DAY] }],
    [`/v1/projects/${projectId}`, { agentDefaults: { rpmLimit: 1 } }],
    [`/v1/orgs/${admin.orgId}`, { budgets: [DAY] }],
  ] as const) {
    expect((await member.call('PATCH', path, patch)).status, path).toBe(403);
    expect((await stranger.call('PATCH', path, patch)).status, path).toBe(404);
    expect((await admin.call('PATCH', path, patch)).status, path).toBe(200);
  }
});

test('the plain monthly row in audit mode: set through budgets, shown there, ended by budgetMode', async () => {
  const admin = await plane().createMember('admin');
  const { id } = await createAgent(admin, { budgets: [{ window: 'month', cents: 70, mode: 'audit' }] });
  const read = async () => (await admin.call('GET', `/v1/agents/${id}`)).body.agent;
  const audited = await read();
  expect([audited.budgetCentsMonthly, audited.budgetMode]).toEqual([70, 'soft']);
  expect(withoutSpend(audited.budgets)).toEqual([{ window: 'month', cents: 70, models: [], mode: 'audit' }]);
  expect((await contextOf(admin, id)).auditedLimits).toEqual(['budget']);
  await admin.call('PATCH', `/v1/agents/${id}`, { budgetCentsMonthly: 80 });
  expect(withoutSpend((await read()).budgets)).toEqual([{ window: 'month', cents: 80, models: [], mode: 'audit' }]);
  await admin.call('PATCH', `/v1/agents/${id}`, { budgetMode: 'hard' });
  expect(withoutSpend((await read()).budgets)).toEqual([{ window: 'month', cents: 80, models: [], mode: 'hard' }]);
  expect((await contextOf(admin, id)).auditedLimits).toBeUndefined();
});

test('a row without spend shows 0', async () => {
  const admin = await plane().createMember('admin');
  const { id, projectId } = await createAgent(admin);
  for (const path of [`/v1/agents/${id}`, `/v1/projects/${projectId}`, `/v1/orgs/${admin.orgId}`]) {
    const budgets = ['day', 'week', 'month', 'total'].map((window) => ({ window, cents: 5 }));
    await admin.call('PATCH', path, { budgets });
    const { body } = await admin.call('GET', path);
    const rows = (body.agent ?? body.project ?? body.org).budgets;
    expect(rows.map(({ spentCents }: { spentCents: number }) => spentCents)).toEqual([0, 0, 0, 0]);
  }
});

test('a new agent gets the defaults of its project, then of the organization, where it states none', async () => {
  const admin = await plane().createMember('admin');
  const { projectId } = await createAgent(admin);
  await admin.call('PATCH', `/v1/orgs/${admin.orgId}`, {
    agentDefaults: { rpmLimit: 7, rpdLimit: 70, budgets: [DAY] },
  });
  await admin.call('PATCH', `/v1/projects/${projectId}`, {
    agentDefaults: {
      rpmLimit: 8,
      budgets: [
        { window: 'week', cents: 1 },
        { window: 'month', cents: 2, mode: 'hard' },
      ],
      auditLimits: ['rpd'],
    },
  });
  const make = async (fields: object) => {
    const { body } = await admin.call('POST', '/v1/agents', { projectId, name: 'New', ...fields });
    return (await admin.call('GET', `/v1/agents/${body.agent.id}`)).body.agent;
  };
  const plain = await make({});
  expect([plain.rpmLimit, plain.rpdLimit, plain.budgetCentsMonthly, plain.budgetMode, plain.auditLimits]).toEqual([
    8,
    70,
    2,
    'hard',
    ['rpd'],
  ]);
  expect(withoutSpend(plain.budgets).map(({ window }) => window)).toEqual(['month', 'week']);
  const own = await make({ rpmLimit: 9, budgetCentsMonthly: 3 });
  expect([own.rpmLimit, own.rpdLimit, withoutSpend(own.budgets)]).toEqual([
    9,
    70,
    [{ window: 'month', cents: 3, models: [], mode: 'soft' }],
  ]);
  const none = await make({ rpmLimit: null, rpdLimit: null, budgetCentsMonthly: null });
  expect([none.rpmLimit, none.rpdLimit, none.budgets]).toEqual([60, 10_000, []]);
  await admin.call('PATCH', `/v1/projects/${projectId}`, { agentDefaults: null });
  expect(withoutSpend((await make({})).budgets)).toEqual([{ ...DAY, models: [], mode: 'soft' }]);
});

test('a context has the rows of agent, project and organization with the ledger’s spend of their windows', async () => {
  const admin = await plane().createMember('admin');
  const { id, projectId, body } = await createAgent(admin, {
    budgets: [DAY, { window: 'total', cents: 40 }],
    auditLimits: ['rpm'],
  });
  await admin.call('PATCH', `/v1/projects/${projectId}`, { budgets: [{ window: 'month', cents: 10, mode: 'hard' }] });
  await admin.call('PATCH', `/v1/orgs/${admin.orgId}`, {
    budgets: [{ window: 'week', cents: 20, models: ['gpt*'], tag: 'a=b' }],
  });
  const [dayRow, totalRow] = body.budgets;
  const now = new Date();
  const month = (back: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)).toISOString().slice(0, 7);
  const { sql } = plane().database;
  for (const [budgetId, period, slot, spent, ledger] of [
    [dayRow.id, now.toISOString().slice(0, 10), 0, 5, 1],
    [dayRow.id, now.toISOString().slice(0, 10), 3, 6, 2],
    [dayRow.id, '2020-01-01', 0, 1_000, 0],
    [totalRow.id, month(0), 0, 7, 0],
    [totalRow.id, month(1), 0, 8, 8],
    [totalRow.id, month(2), 0, 9, 0],
    [totalRow.id, month(14), 0, 10, 0],
  ] as const)
    await sql`insert into budget_spend (org_id, budget_id, period, slot, spent_nanos, ledger_nanos)
      values (${admin.orgId}, ${budgetId}, ${period}, ${slot}, ${spent}, ${ledger})`;
  const context = await contextOf(admin, id);
  expect(context.auditedLimits).toEqual(['rpm']);
  expect(context.refuseUnchecked).toBe(true);
  expect(context.limits).toContainEqual({
    type: 'budget',
    window: 'month',
    unit: 'cents',
    scope: 'project',
    value: 10,
  });
  expect(context.budgets!.map(({ id: _, ...row }) => row)).toEqual([
    {
      scope: 'agent',
      scopeId: id,
      window: 'day',
      cents: 500,
      mode: 'soft',
      models: [],
      tag: '',
      closedNanos: 0,
      spend: [{ window: now.toISOString().slice(0, 10), spentNanos: 11, ledgerNanos: 3 }],
    },
    {
      scope: 'agent',
      scopeId: id,
      window: 'total',
      cents: 40,
      mode: 'soft',
      models: [],
      tag: '',
      closedNanos: 19,
      spend: [
        { window: month(0), spentNanos: 7, ledgerNanos: 0 },
        { window: month(1), spentNanos: 8, ledgerNanos: 8 },
      ],
    },
    {
      scope: 'org',
      scopeId: admin.orgId,
      window: 'week',
      cents: 20,
      mode: 'soft',
      models: ['gpt*'],
      tag: 'a=b',
      closedNanos: 0,
      spend: [{ window: expect.stringMatching(/^\d{4}-W\d{2}$/), spentNanos: 0, ledgerNanos: 0 }],
    },
    {
      scope: 'project',
      scopeId: projectId,
      window: 'month',
      cents: 10,
      mode: 'hard',
      models: [],
      tag: '',
      closedNanos: 0,
      spend: [{ window: month(0), spentNanos: 0, ledgerNanos: 0 }],
    },
  ]);
});

test('contexts for a cell have what it and all cells have spent of the hard budgets', async () => {
  const admin = await plane().createMember('admin');
  const { id, projectId, body } = await createAgent(admin, {
    budgetMode: 'hard',
    budgetCentsMonthly: 9,
    budgets: [
      { window: 'month', cents: 9, mode: 'hard' },
      { ...DAY, mode: 'hard' },
      { ...DAY, models: ['soft'] },
      { window: 'total', cents: 40, mode: 'hard' },
    ],
  });
  const idOf = (window: string, mode = 'hard') =>
    body.budgets.find((row: { window: string; mode: string }) => row.window === window && row.mode === mode).id;
  const now = new Date();
  const [today, month] = [now.toISOString().slice(0, 10), now.toISOString().slice(0, 7)];
  for (const [budgetId, period, cell, slot, nanos] of [
    [id, month, 'eu', 0, 1],
    [id, month, 'eu', 1, 2],
    [id, month, 'us', 0, 4],
    [id, '2020-01', 'eu', 0, 100],
    [projectId, month, 'us', 0, 5],
    [idOf('day'), today, 'eu', 0, 8],
    [idOf('day', 'soft'), today, 'eu', 0, 100],
    [idOf('total'), month, 'us', 0, 16],
    [idOf('total'), '2020-01', 'eu', 0, 32],
    [idOf('total'), '2020-02', 'us', 0, 64],
  ] as const)
    await plane().database.sql`insert into cell_spend (org_id, budget_id, period, cell, slot, spent_nanos)
      values (${admin.orgId}, ${budgetId}, ${period}, ${cell}, ${slot}, ${nanos})`;
  const { cellSpend } = await contextOf(admin, id, 'eu');
  expect(new Set(cellSpend)).toEqual(
    new Set([
      { id, window: month, cellNanos: 3, allCellsNanos: 7 },
      { id: projectId, window: month, cellNanos: 0, allCellsNanos: 5 },
      { id: idOf('day'), window: today, cellNanos: 8, allCellsNanos: 8 },
      { id: idOf('total'), window: month, cellNanos: 0, allCellsNanos: 16 },
      { id: idOf('total'), window: '', cellNanos: 32, allCellsNanos: 96 },
    ]),
  );
  expect((await contextOf(admin, id)).cellSpend).toBeUndefined();
});
