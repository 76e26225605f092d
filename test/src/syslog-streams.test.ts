/** Audit entries and rejected calls at a syslog server: format, order, and what an outage and a second control plane do. */

import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { SyslogStreams } from '@acg/controlplane/syslog/syslog-streams';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useControlPlane } from './fixtures/control-plane.js';

const plane = useControlPlane();
let received = '';
let server: Server;
let port = 0;

async function listen(onPort: number): Promise<void> {
  server = createServer((socket) => {
    socket.setEncoding('utf8').on('data', (text: string) => {
      received += text;
    });
  });
  await new Promise<void>((done) => server.listen(onPort, '127.0.0.1', done));
  port = (server.address() as AddressInfo).port;
}
beforeAll(() => listen(0));
afterAll(() => void server.close());

/** Splits octet-counted frames as RFC 6587 says; throws at anything else. */
function parseFrames(text: string): { readonly head: string; readonly body: Record<string, unknown> }[] {
  let rest = Buffer.from(text);
  const frames: { head: string; body: Record<string, unknown> }[] = [];
  while (rest.length > 0) {
    const space = rest.indexOf(' ');
    const end = space + 1 + Number(rest.toString('latin1', 0, space));
    const message = rest.toString('utf8', space + 1, end);
    const [, head, json] = /^(<110>1 \S+ \S+ acg \d+ \S+ -) \uFEFF(\{.*\})$/s.exec(message)!;
    frames.push({ head: head!, body: JSON.parse(json!) as Record<string, unknown> });
    rest = rest.subarray(end);
  }
  return frames;
}

const takeFrames = () => {
  const frames = parseFrames(received);
  received = '';
  return frames;
};

test('syslog: entries and rejected calls arrive once and in order, also after an outage and from two control planes', async () => {
  const { sql } = plane().database;
  const streams = [0, 1].map(() => new SyslogStreams(sql, { host: '127.0.0.1', port, isTls: false }, 0));
  const owner = await plane().createMember('owner');
  await owner.call('POST', '/v1/projects', { name: 'Before the stream' });
  expect(await streams[0]!.sendAll()).toBe(0); // a new stream begins with the present

  const names = ['Ärger mit "Quotes"', 'Second', 'Third'];
  for (const name of names) expect((await owner.call('POST', '/v1/projects', { name })).status).toBe(201);
  const requestId = randomUUID();
  await sql`
    insert into rejected_calls (org_id, agent_id, rejected_at, id, key_id, provider_slug, reason, status, method, path, model,
                                tool, client_network)
    values (${owner.orgId}, ${randomUUID()}, now(), ${requestId}, ${randomUUID()}, 'openai', 'rpm', 429, 'POST', '/v1/x', '', '',
            '192.0.2.1')`;
  const sent = await Promise.all(streams.map((stream) => stream.sendAll()));
  expect(sent.reduce((a, b) => a + b)).toBe(4);
  const frames = takeFrames();
  const audit = frames.filter(({ head }) => head.endsWith(' audit -'));
  expect(audit.map(({ body }) => (body.changes as { name: string[] }).name[1])).toEqual(names);
  for (const { body } of audit)
    expect(body).toMatchObject({ orgId: owner.orgId, action: 'project.create', actorUserId: owner.userId });
  expect(frames.filter(({ head }) => head.endsWith(' rejection -')).map(({ body }) => body)).toEqual([
    expect.objectContaining({ requestId, reason: 'rpm', status: 429, clientNetwork: '192.0.2.1' }),
  ]);
  expect(await streams[1]!.sendAll()).toBe(0);

  await new Promise<void>((done) => server.close(() => done()));
  await owner.call('POST', '/v1/projects', { name: 'During the outage' });
  await expect(streams[0]!.sendAll()).rejects.toThrow(
    /^the syslog server 127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/,
  );
  await listen(port);
  expect(await streams[1]!.sendAll()).toBe(1);
  expect(takeFrames().map(({ body }) => (body.changes as { name: string[] }).name[1])).toEqual(['During the outage']);
});

test('syslog: a rejected call that a data plane reports after an outage arrives, although later calls were sent', async () => {
  const { sql } = plane().database;
  const stream = new SyslogStreams(sql, { host: '127.0.0.1', port, isTls: false }, 0);
  const owner = await plane().createMember('owner');
  await stream.sendAll();
  received = '';
  const store = async (requestId: string, rejectedAgo: string) => sql`
    insert into rejected_calls (org_id, agent_id, rejected_at, id, key_id, provider_slug, reason, status, method, path, model,
                                tool, client_network)
    values (${owner.orgId}, ${randomUUID()}, now() - ${rejectedAgo}::interval, ${requestId}, ${randomUUID()}, 'openai', 'rpm',
            429, 'POST', '/v1/x', '', '', '192.0.2.1')`;
  const [later, earlier] = [randomUUID(), randomUUID()];
  for (const [requestId, rejectedAgo] of [
    [later, '1 minute'],
    [earlier, '10 minutes'],
  ] as const) {
    await store(requestId, rejectedAgo);
    expect(await stream.sendAll()).toBe(1);
  }
  expect(takeFrames().map(({ body }) => body.requestId)).toEqual([later, earlier]);
});

test('syslog: more rows than one turn sends arrive completely', async () => {
  const { sql } = plane().database;
  const stream = new SyslogStreams(sql, { host: '127.0.0.1', port, isTls: false }, 0);
  const owner = await plane().createMember('owner');
  await stream.sendAll();
  received = '';
  const at = new Date().toISOString(); // one time for all: the id decides
  await sql`
    insert into audit_entries (id, org_id, at, actor_email, action, target_type, target_id, ip, changes)
    select gen_random_uuid(), ${owner.orgId}, ${at}, 'a@example.com', 'agent.update', 'agent', n::text, '', '{}'
      from generate_series(1, 1203) n`;
  expect(await stream.sendAll()).toBe(1_203);
  const targets = takeFrames().map(({ body }) => Number(body.targetId));
  expect(targets.sort((a, b) => a - b)).toEqual(Array.from({ length: 1_203 }, (_, n) => n + 1));
});
