import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';

const plane = useControlPlane();

const post = (body: string, headers: Record<string, string>, token: string) =>
  fetch(`${plane().url}/v1/projects`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${token}`, ...headers },
  });

const JSON_TYPE = { 'content-type': 'application/json' };

test.each([
  [
    'malformed JSON',
    '{"name":',
    JSON_TYPE,
    400,
    /^the body is not valid JSON, or has a field __proto__ or constructor$/,
  ],
  ['an empty body', '', JSON_TYPE, 400, /^the body is empty\. Send a JSON object\.$/],
  ['an array', '[]', JSON_TYPE, 400, /^the body must be a JSON object$/],
  ['null', 'null', JSON_TYPE, 400, /^the body must be a JSON object$/],
  ['a poisoned prototype', '{"__proto__":{}}', JSON_TYPE, 400, /^the body is not valid JSON, or /],
  ['a NUL', '{"name":"a\\u0000b"}', JSON_TYPE, 400, /^text must not contain NUL/],
  ['half a surrogate pair', '{"name":["\\ud800"]}', JSON_TYPE, 400, /^text must not contain NUL/],
  [
    'a name twice',
    '{"name":"a","name":"b"}',
    JSON_TYPE,
    400,
    /^the body has "name" twice in one object\. Send it once\.$/,
  ],
  ['a nested name twice', '{"x":[{"a":1,"b":{"a":2},"\\u0061":3}]}', JSON_TYPE, 400, /^the body has "a" twice/],
  ['100 000 levels', `${'['.repeat(1e5)}${']'.repeat(1e5)}`, JSON_TYPE, 400, /^the body must be a JSON object$/],
  ['another content type', 'name=x', { 'content-type': 'application/x-www-form-urlencoded' }, 400, /application\/json/],
  ['plain text', 'x', { 'content-type': 'text/plain' }, 400, /application\/json/],
  ['2 MiB', JSON.stringify({ name: 'x'.repeat(2 << 20) }), JSON_TYPE, 413, /^the body is larger than 1048576 bytes$/],
])('http: %s is answered with { error } and its status', async (_name, body, headers, status, error) => {
  const admin = await plane().createMember('admin');
  const response = await post(body, headers as Record<string, string>, admin.token);
  expect(response.status).toBe(status);
  expect(await response.json()).toEqual({ error: expect.stringMatching(error) });
});

test.each([
  ['a bad request line', 'GET\r\n\r\n', 400, /^the request is not valid HTTP/],
  [
    '100 KiB of headers',
    `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(100 << 10)}\r\n\r\n`,
    431,
    /^the headers .* too large$/,
  ],
])('http: %s is answered with { error } alone', async (_name, head, status, error) => {
  const { hostname, port } = new URL(plane().url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined); // the server closes while the rest is still being sent
  socket.write(head);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  await new Promise((resolve) => socket.once('close', resolve));
  const [top, body] = answer.split('\r\n\r\n');
  expect(top).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(body!)).toEqual({ error: expect.stringMatching(error) });
});

test('http: a route without a body accepts none, an empty one or {}, and rejects anything else', async () => {
  const admin = await plane().createMember('admin');
  for (const [body, status] of [
    ['', 200],
    ['{}', 200],
    ['{"force":true}', 400],
  ] as const) {
    const { id } = (await admin.call('POST', '/v1/projects', { name: 'gone soon' })).body.project;
    const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' };
    const response = await fetch(`${plane().url}/v1/projects/${id}`, { method: 'DELETE', headers, body });
    expect(response.status).toBe(status);
  }
});

test('http: a body that is not UTF-8 is 400, so that no two passwords or names become the same text', async () => {
  const admin = await plane().createMember('admin');
  const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' };
  const create = (name: string) =>
    fetch(`${plane().url}/v1/projects`, { method: 'POST', headers, body: Buffer.from(`{"name":"${name}"}`, 'latin1') });
  const rejected = await create('Müller');
  expect(rejected.status).toBe(400);
  expect(await rejected.json()).toEqual({ error: 'the body is not UTF-8' });
  const created = await create(Buffer.from('Müller').toString('latin1'));
  expect(await created.json()).toMatchObject({ project: { name: 'Müller' } });
});

test('http: every response has the security headers and a request id', async () => {
  for (const path of ['/v1/projects', '/v1/nothing', '/healthz']) {
    const { headers } = await fetch(plane().url + path);
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  }
});

test('http: /metrics counts requests by route pattern and status class, never by id', async () => {
  const admin = await plane().createMember('admin');
  const { id } = (await admin.call('POST', '/v1/projects', { name: 'counted' })).body.project;
  await admin.call('GET', `/v1/projects/${id}`);
  await plane().call('PROPFIND', '/v1/nowhere');
  const { body } = await plane().call('GET', '/metrics');
  expect(body).toContain('gateway_control_http_requests_total{method="GET",route="/v1/projects/:id",status="2xx"} 1');
  expect(body).toContain('method="unknown",route="unknown",status="4xx"');
  expect(body).toMatch(/gateway_build_info\{plane="control",version="[^"]+",node="v[^"]+"\} 1/);
  expect(body).toContain('nodejs_eventloop_lag_p99_seconds');
  expect(body).not.toContain(id);
});

test.each(['%', '%zz', '%ff', '%00', '..%2f..', 'x'.repeat(5_000), 'urn:uuid:01a1fc53-dc49-72af-a581-a02ce77c7bc1'])(
  'http: the id %s is refused with { error } and nothing else',
  async (id) => {
    const admin = await plane().createMember('admin');
    const answer = await admin.call('GET', `/v1/projects/${id}`);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 400, body: { error: expect.any(String) } });
  },
);

test('http: an id in capitals is the same id, also in messages to data planes', async () => {
  const admin = await plane().createMember('admin');
  const { id: projectId } = (await admin.call('POST', '/v1/projects', { name: 'capitals' })).body.project;
  const created = await admin.call('POST', '/v1/agents', { projectId: projectId.toUpperCase(), name: 'capitals' });
  const { id } = created.body.agent;
  const keyed = await admin.call('POST', '/v1/api-keys', { name: 'k', agentId: id.toUpperCase() });
  expect(keyed.status).toBe(201);
  expect((await admin.call('GET', `/v1/agents?projectId=${projectId.toUpperCase()}`)).body.total).toBe(1);
  const switched = await admin.call('POST', '/v1/auth/switch-org', { orgId: admin.orgId.toUpperCase() });
  expect(switched.body).toEqual({ token: expect.any(String), orgId: admin.orgId });
  expect((await admin.call('DELETE', `/v1/api-keys/${keyed.body.key.id.toUpperCase()}`)).status).toBe(200);
  expect((await admin.call('DELETE', `/v1/agents/${id.toUpperCase()}`)).status).toBe(200);
  const told = await plane().database.sql`select kind, id from invalidations order by revision`;
  expect(told).toEqual(
    expect.arrayContaining([
      { kind: 'key', id: keyed.body.key.id },
      { kind: 'agent', id },
    ]),
  );
});

test('http: a stopping control plane serves requests that still arrive and closes their connections', async () => {
  let askMeanwhile = async (): Promise<void> => {};
  // The port is still open when these run.
  const stopping = await startControlPlane({}, undefined, ({ app }) => app.addHook('preClose', () => askMeanwhile()));
  const owner = await stopping.createMember('owner');
  const answers: unknown[] = [];
  askMeanwhile = async () => {
    const { status, headers } = await owner.call('POST', '/v1/projects', { name: 'late' });
    answers.push([status, headers.get('connection')]);
  };
  await stopping.stop();
  expect(answers).toEqual([[201, 'close']]);
});

test('http: a read-only database is 503 like an unavailable one, and reads still work', async () => {
  const owner = await plane().createMember('owner');
  const { sql } = plane().database;
  // Neither has been noted as in use for a while.
  const token = (await owner.call('POST', '/v1/management-tokens', { name: 'CI', role: 'viewer' })).body.secretToken;
  const stale = await plane().createMember('viewer', owner.orgId);
  await sql`update sessions set last_seen_at = now() - interval '1 day' where user_id = ${stale.userId}`;
  const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
    const [row] = await sql<{ name: string }[]>`select current_database() as name`;
    await sql.begin(async (tx) => {
      await tx`set local transaction_read_only = off`;
      await tx.unsafe(`alter database ${row!.name} set default_transaction_read_only = ${value}`);
    });
    // As after a failover: every connection is a new one.
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'acg-%'`;
  };
  await setReadOnly('on');
  const read = () => owner.call('GET', '/v1/projects').then(({ status }) => status);
  await expect.poll(read).toBe(200);
  // A connection that was just being opened may be none of those.
  const refused = await waitUntil('writes are refused', async () => {
    const answer = await owner.call('POST', '/v1/projects', { name: 'not now' });
    return answer.status !== 201 && answer;
  });
  expect(refused).toMatchObject({
    status: 503,
    body: { error: 'the database is unavailable. Retry in a few seconds.' },
  });
  expect(refused.headers.get('retry-after')).toBe('2');
  const asStale = () => stale.call('GET', '/v1/projects');
  const asProgram = () => plane().call('GET', '/v1/projects', { token });
  for (const ask of [asStale, asProgram]) await expect.poll(async () => (await ask()).status).toBe(200);
  await setReadOnly('off');
  await expect.poll(read).toBe(200);
  await expect.poll(() => owner.call('POST', '/v1/projects', { name: 'again' }).then(({ status }) => status)).toBe(201);
});
