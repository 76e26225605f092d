/** The typed client against a real control plane, and against other servers at its URL. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ApiError, UnreachableError } from '@acg/client/api-errors';
import { iterateAllRows } from '@acg/client/iterate-all-rows-by-offset';
import { type Client, createClient } from '@acg/client/typed-api-client-throwing-errors';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const clientOf = (token: string): Client => createClient({ baseUrl: plane().url, token });
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error,
  );

test('a call sends the token and resolves to the response body', async () => {
  const owner = await plane().createMember('owner');
  const client = clientOf(owner.token);
  const { project } = await client.post('/v1/projects', { body: { name: 'First' } });
  const { agent } = await client.post('/v1/agents', { body: { projectId: project.id, name: 'Crawler' } });
  const found = await client.patch('/v1/agents/{id}', { params: { path: { id: agent.id } }, body: { rpmLimit: 7 } });
  expect(found.agent).toMatchObject({ name: 'Crawler', rpmLimit: 7, projectId: project.id });
  const path = { id: agent.id };
  expect(await client.delete('/v1/agents/{id}', { params: { path } })).toEqual({ deleted: true });
});

test('an error response is an ApiError with its status, text and request id', async () => {
  const owner = await plane().createMember('owner');
  const error = await failure(
    clientOf(owner.token).get('/v1/agents/{id}', { params: { path: { id: '018f0000-0000-7000-8000-000000000000' } } }),
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 404, error: 'no such agent', message: 'no such agent', retryAfter: null });
  expect((error as ApiError).requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(await failure(clientOf('nonsense').get('/v1/me'))).toMatchObject({ status: 401 });
});

test('iterateAllRows fetches pages one after the other, and only those that are read', async () => {
  const owner = await plane().createMember('owner');
  await plane().database.sql`
    insert into projects (id, org_id, name, slug)
    select gen_random_uuid(), ${owner.orgId}, 'P' || n, 'p' || n from generate_series(1, 205) n`;
  const client = clientOf(owner.token);
  const offsets: number[] = [];
  const rows = iterateAllRows(
    (query) => {
      offsets.push(query.offset);
      return client.get('/v1/projects', { params: { query } });
    },
    (page) => page.projects,
  );
  const names = new Set<string>();
  for await (const project of rows) names.add(project.name);
  expect([names.size, offsets]).toEqual([205, [0, 100, 200]]);
});

test('send calls any path with the same token and throws the same errors', async () => {
  const owner = await plane().createMember('owner');
  const client = clientOf(owner.token);
  const response = await client.send('POST', '/v1/projects', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Sent' }),
  });
  expect([response.status, await response.json()]).toEqual([
    201,
    { project: expect.objectContaining({ name: 'Sent' }) },
  ]);
  expect(await failure(client.send('GET', '/v1/nothing'))).toMatchObject({ status: 404 });
});

let server: Server;
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url?.startsWith('/busy/')) {
      response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      response.end('{"error":"too many"}');
    } else if (request.url?.startsWith('/bad-gateway/')) {
      response.writeHead(502, { 'content-type': 'text/html' });
      response.end('<h1>Bad gateway</h1>');
    } else if (request.url?.startsWith('/echo/')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ url: request.url, agent: request.headers['user-agent'] }));
    } else if (request.url?.startsWith('/cut/')) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"user"', () => response.destroy());
    } else if (/^\/(?:half|empty|null)\//.test(request.url!)) {
      const bodies: Readonly<Record<string, string>> = { half: '{"user"', empty: '', null: 'null' };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(bodies[request.url!.split('/')[1]!]);
    } else {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<form>Sign in</form>');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => void server.close());
const at = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

test('the URL may have a path and a trailing slash', async () => {
  const client = createClient({ baseUrl: at('/echo/under/'), headers: { 'user-agent': 'acg/1' } });
  expect(await client.get('/v1/me')).toEqual({ url: '/echo/under/v1/me', agent: 'acg/1' });
});

test('retryAfter is in seconds; an HTML page instead of a response is an error that names it', async () => {
  expect(await failure(createClient({ baseUrl: at('/busy') }).get('/v1/me'))).toMatchObject({
    status: 429,
    error: 'too many',
    retryAfter: 7,
  });
  expect(await failure(createClient({ baseUrl: at('/bad-gateway') }).get('/v1/me'))).toMatchObject({
    status: 502,
    error: 'HTTP 502 Bad Gateway',
    requestId: null,
  });
  const error = await failure(createClient({ baseUrl: at('/page') }).get('/v1/me'));
  expect(error).toBeInstanceOf(UnreachableError);
  expect((error as UnreachableError).message).toBe(`${at('/page/v1/me')}: not the management API (text/html)`);
});

test('a truncated, empty or non-object response is an error that names the URL', async () => {
  const why = async (path: string) => {
    const error = await failure(createClient({ baseUrl: at(path) }).get('/v1/me'));
    expect(error).toBeInstanceOf(UnreachableError);
    return (error as UnreachableError).message.slice(at(path).length);
  };
  expect(await why('/cut')).toBe('/v1/me: the answer broke off');
  expect(await why('/half')).toBe('/v1/me: the answer is no JSON');
  expect(await why('/empty')).toBe('/v1/me: not the management API');
  expect(await why('/null')).toBe('/v1/me: not the management API');
});

test('without a server the error names the URL without the query; an abort stays an abort', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:9' });
  const error = await failure(client.get('/v1/projects', { params: { query: { limit: 1 } } }));
  expect(error).toBeInstanceOf(UnreachableError);
  expect(error).toMatchObject({ message: 'http://127.0.0.1:9/v1/projects: no answer' });
  const signal = AbortSignal.abort();
  expect(await failure(createClient({ baseUrl: at('/page') }).get('/v1/me', { signal }))).toMatchObject({
    name: 'AbortError',
  });
});

test('a token with a line break is an error that does not contain it', () => {
  expect(() => clientOf('acgm_secret\nX-Other: 1')).toThrow(/^the token has a space, a line break/);
});
