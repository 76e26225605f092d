/** Tags, runs and audit mode in reports, logs and exports, which also carry current names. */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, newId, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();

test('reports by tag, filters of calls, and exports with tags and names', async () => {
  const admin = await plane().createMember('admin');
  const projectId = (await admin.call('POST', '/v1/projects', { name: 'Search' })).body.project.id;
  const agentId = (await admin.call('POST', '/v1/agents', { projectId, name: '=Bot' })).body.agent.id;
  const keyId = (await admin.call('POST', '/v1/api-keys', { name: 'prod', agentId })).body.key.id;
  const { report } = createIngest(plane().database.sql);
  const runId = newId();
  const day = new Date().toISOString().slice(0, 10);
  const call = (tags: string, costNanos: number, changes: object = {}) =>
    usageRecord({ orgId: admin.orgId, projectId, agentId, keyId, tags, costNanos, day, ...changes });
  await report({
    dataPlaneId: 'dp',
    records: [
      call('customer=acme,feature=x', 30_000_000, { runId }),
      call('customer=acme', 20_000_000, { wouldReject: 'rpm' }),
      call('customer=b', 10_000_000),
      call('', 5_000_000),
    ],
  });
  const stranger = await plane().createMember('owner');
  const rows = async (of: typeof admin, query: string) =>
    (await of.call('GET', `/v1/usage/breakdown?${query}`)).body.rows;
  const byCustomer = [
    { value: 'acme', requests: 2, costCents: 5 },
    { value: 'b', requests: 1, costCents: 1 },
  ];
  for (const scope of ['', `&agentId=${agentId}`, `&projectId=${projectId}`])
    expect(await rows(admin, `by=tag:customer${scope}`)).toEqual(byCustomer.map((row) => expect.objectContaining(row)));
  expect(await rows(stranger, 'by=tag:customer')).toEqual([]);
  const series = await admin.call('GET', '/v1/usage/timeseries?groupBy=tag:customer&period=7d');
  expect([
    series.status,
    series.body.interval,
    series.body.groups.map(({ value }: { value: string }) => value),
  ]).toEqual([200, 'day', ['acme', 'b']]);
  const hourly = await admin.call('GET', '/v1/usage/timeseries?groupBy=tag:customer&interval=hour&period=7d');
  expect([hourly.status, hourly.body.error]).toEqual([400, expect.stringContaining('interval=day')]);
  expect((await admin.call('GET', '/v1/usage/breakdown?by=tag:Bad')).status).toBe(400);

  const total = async (query: string) => (await admin.call('GET', `/v1/usage/logs?${query}`)).body.total;
  expect(
    await Promise.all(
      ['tag=customer%3Dacme', 'tag=customer%3Dac', `runId=${runId}`, 'wouldReject=true', ''].map(total),
    ),
  ).toEqual([2, 0, 1, 1, 4]);
  const exported = (await admin.call('GET', `/v1/usage/export?format=json&period=7d`)).body;
  expect(exported.find((log: { runId: string | null }) => log.runId === runId)).toMatchObject({
    tags: 'customer=acme,feature=x',
    wouldReject: null,
    agentName: '=Bot',
    projectName: 'Search',
    keyName: 'prod',
  });
  expect(exported.filter((log: { wouldReject: string | null }) => log.wouldReject === 'rpm')).toHaveLength(1);
});
