import { connect, type Socket } from 'node:net';
import type { IUsageRecord } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { createIngest, type InsertedAgent, insertAgent, usageRecord } from '../ledger/usage-fixture.js';

const plane = useControlPlane();

async function fetchExport(viewer: Member, agent: InsertedAgent, format: 'csv' | 'json') {
  return (await viewer.call('GET', `/v1/usage/agents/${agent.id}/export?period=7d&format=${format}`)).body;
}

async function createAgentWithRecords(viewer: Member, records: readonly Partial<IUsageRecord>[], dataPlaneId = 'd') {
  const agent = await insertAgent(plane().database.sql, viewer.orgId);
  const ids = { agentId: agent.id, orgId: agent.orgId };
  const now = Date.now();
  const made = records.map((changes, i) => usageRecord({ ...ids, startedAtMs: now - i, ...changes })); // newest first
  await createIngest(plane().database.sql).report({ dataPlaneId, records: made });
  return agent;
}

const TEXTS: readonly (readonly [string, string])[] = [
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\r\nlines', '"two\r\nlines"'],
  ['one\rline', '"one\rline"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['a=1-2', 'a=1-2'],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
  ['\n=1', '"\'\n=1"'],
  ['＝1', "'＝1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
  ['ünïcode 模型', 'ünïcode 模型'],
  ['back\\slash \\n', 'back\\slash \\n'],
  ['', ''],
];

test('export: any text is one CSV field, harmless in a spreadsheet, and unchanged in JSON', async () => {
  const viewer = await plane().createMember('viewer');
  const agent = await createAgentWithRecords(
    viewer,
    TEXTS.map(([model]) => ({ model, path: '/p', error: '' })),
  );
  const csv: string = await fetchExport(viewer, agent, 'csv');
  const fields = csv
    .split(/\r\n(?=[0-9a-f]{8}-)/)
    .slice(1)
    .map(
      (line) =>
        /,\/p,200,,(.*),123,50,20,3,10,0\.1234567,reported,library,250,120,512,2048,false,d(?:,[^,]*)*(?:\r\n)?$/s.exec(
          line,
        )?.[1],
    );
  expect(fields).toEqual(TEXTS.map(([, written]) => written));
  const json: { model: string | null }[] = await fetchExport(viewer, agent, 'json');
  expect(json.map((record) => record.model ?? '')).toEqual(TEXTS.map(([model]) => model));
});

test('export: JSON equals the response of /logs, to the last digit of the cost', async () => {
  const viewer = await plane().createMember('viewer');
  const costs = [0, 1, 10, 9_999_999, 10_000_000, 123_456_789, 2 ** 41 - 1, 30_000_000];
  const agent = await createAgentWithRecords(viewer, [
    ...costs.map((costNanos) => ({ costNanos })),
    { ttfbMs: null, streamed: true, error: 'timeout', responseStatus: 504, model: '' },
  ]);
  const { logs } = (await viewer.call('GET', `/v1/usage/agents/${agent.id}/logs`)).body;
  const json = await fetchExport(viewer, agent, 'json');
  expect(json).toEqual(logs);
  expect(json.map((record: object) => Object.keys(record))).toEqual(logs.map((log: object) => Object.keys(log)));
  expect(json.slice(0, costs.length).map(({ costCents }: { costCents: number }) => costCents)).toEqual(
    costs.map((nanos) => nanos / 10_000_000),
  );
});

test.each([0, 1, 999, 1_000, 1_001, 2_500])(
  'export: %i records are all there, once, in order, in both formats',
  async (count) => {
    const viewer = await plane().createMember('viewer');
    // Several records share each instant, so that chunks end between records of the same time.
    const startedAtMs = Date.now();
    const agent = await createAgentWithRecords(
      viewer,
      Array.from({ length: count }, (_, i) => ({ startedAtMs: startedAtMs - Math.floor(i / 7) })),
    );
    const { sql } = plane().database;
    const rows = await sql<{ id: string }[]>`
    select id from usage_records where agent_id = ${agent.id} order by started_at desc, id desc`;
    const ids = rows.map((row) => row.id);
    expect(ids).toHaveLength(count);
    const csv: string = await fetchExport(viewer, agent, 'csv');
    expect(
      csv
        .split('\r\n')
        .slice(1, -1)
        .map((line) => line.slice(0, 36)),
    ).toEqual(ids);
    const json: { id: string }[] = await fetchExport(viewer, agent, 'json');
    expect(json.map((record) => record.id)).toEqual(ids);
  },
);

/** A client that sends a request and reads nothing. */
async function requestWithoutReading(by: Member, path: string): Promise<Socket> {
  const { hostname, port } = new URL(plane().url);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${by.token}\r\n\r\n`);
  return socket;
}

test('export: clients that read nothing occupy only their own slots, until they are disconnected', async () => {
  const viewer = await plane().createMember('viewer');
  const owner = await plane().createMember('owner', viewer.orgId);
  const { sql } = plane().database;
  const agent = await insertAgent(sql, viewer.orgId);
  const ids = { agentId: agent.id, orgId: agent.orgId, path: 'p'.repeat(1_000) };
  for (let n = 0; n < 4; n++) {
    const records = Array.from({ length: 4_000 }, () => usageRecord(ids));
    await createIngest(sql).report({ dataPlaneId: 'd', records });
  }
  const path = `/v1/usage/agents/${agent.id}/export?period=7d`;
  const { server } = plane().service.app;
  expect(server.timeout).toBe(300_000);
  server.timeout = 8_000; // for new connections
  const sockets: Socket[] = [];
  for (let n = 0; n < 10; n++) sockets.push(await requestWithoutReading(viewer, path));
  const status = async (by: Member): Promise<number> => {
    const answer = await fetch(plane().url + path, { headers: { authorization: `Bearer ${by.token}` } });
    await answer.body?.cancel();
    return answer.status;
  };
  await expect.poll(() => status(viewer)).toBe(429);
  expect(await status(owner)).toBe(200);
  await expect.poll(() => status(viewer)).toBe(200);
  server.timeout = 300_000;
  for (const socket of sockets) socket.destroy();
});
