/** Checks every route, generated from the route table: schemas, audit, complete responses, strict input, lists. */
import { readFileSync } from 'node:fs';
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { expect, test } from 'vitest';
import type { ApiResponse } from '../fixtures/api-call.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';
import { callExample, EXAMPLES, exampleOf, routesWithExample } from './route-examples/index.js';
import type { ExampleCall } from './route-examples/route-example.js';

const readText = (name: string): string =>
  readFileSync(new URL(`../../../controlplane/${name}`, import.meta.url), 'utf8');
const DOCUMENT = JSON.parse(readText('openapi.json')) as {
  paths: Record<string, Record<string, { responses: object } | undefined> | undefined>;
};
/** `GET /v1/agents/:id 200` for every response that the tests below received. */
const answers = new Set<string>();
/** Return values of the handlers by request id, before the response schema serialised them. */
const payloads = new Map<string, unknown>();
/** Requests that their schema accepted, by request id. */
const accepted = new Set<string>();
const plane = useControlPlane({}, (service) => {
  service.app.addHook('preHandler', async ({ id }) => {
    accepted.add(id);
  });
  service.app.addHook('preSerialization', async (request, _reply, payload) => {
    payloads.set(request.id, JSON.parse(JSON.stringify(payload)));
    return payload;
  });
  service.app.addHook('onResponse', async ({ method, routeOptions: { url } }, { statusCode }) => {
    if (url !== undefined) answers.add(`${method} ${url} ${statusCode}`);
  });
});

const routes = (): readonly RouteEntry[] =>
  routesWithExample(plane().service.app.routeTable).filter(({ url }) => url !== '/v1/openapi.json'); // a file, not a serialised response
const routeName = (route: RouteEntry): string => `${route.method} ${route.url}`;
const isWrite = (route: RouteEntry): boolean => route.method !== 'GET';

async function prepareExample(route: RouteEntry): Promise<{ owner: Member; call: ExampleCall }> {
  const owner = await plane().createMember('owner');
  return { owner, call: await exampleOf(route).prepare({ plane: plane(), owner, caller: owner }) };
}

async function expectSuccess(route: RouteEntry, owner: Member, call: ExampleCall): Promise<ApiResponse> {
  const answer = await callExample(owner, route, call);
  const { status, body } = answer;
  expect({ route: routeName(route), status, error: body?.error }).toMatchObject({
    status: exampleOf(route).success ?? 200,
  });
  return answer;
}

test('examples: every route has one, and each belongs to a route', () => {
  const names = plane().service.app.routeTable.map(routeName);
  const advice = (name: string) =>
    `add '${name}' to a file in test/src/controlplane/route-examples (see route-example.ts there)`;
  expect(names.filter((name) => EXAMPLES[name] === undefined).map(advice)).toEqual([]);
  expect(Object.keys(EXAMPLES).filter((name) => !names.includes(name))).toEqual([]);
});

const operationOf = (method: string, url: string) =>
  DOCUMENT.paths[url.replace(/:([A-Za-z]+)/g, '{$1}')]?.[method.toLowerCase()];

test('documents: every route is in openapi.json and in ACCESS.md', () => {
  const names = plane().service.app.routeTable.filter(({ url }) => url !== '/v1/openapi.json');
  const missing = names.filter(({ method, url }) => operationOf(method, url) === undefined).map(routeName);
  expect(missing.map((name) => `${name}: npm run openapi`)).toEqual([]);
  const page = readText('ACCESS.md');
  const unlisted = names.map(routeName).filter((name) => !page.includes(`| ${name} |`));
  expect(unlisted.map((name) => `${name}: npx vitest run test/src/auth/role-matrix.test.ts -u`)).toEqual([]);
});

test('schemas: every route declares its response, its parameters, and its body if it has one', () => {
  for (const route of plane().service.app.routeTable) {
    const { schema, url, method } = route;
    const answers = Object.keys((schema?.response ?? {}) as object);
    expect([routeName(route), answers.some((status) => status.startsWith('2'))]).toEqual([routeName(route), true]);
    if (url.includes(':')) expect([routeName(route), schema?.params]).toEqual([routeName(route), expect.anything()]);
    if (method === 'PATCH' || method === 'PUT') {
      expect([routeName(route), schema?.body]).toEqual([routeName(route), expect.anything()]);
    }
    const body = schema?.body as { additionalProperties?: unknown } | undefined;
    if (body !== undefined) expect([routeName(route), body.additionalProperties]).toEqual([routeName(route), false]);
  }
});

test('responses: the response schema neither drops nor adds fields; every write is audited or declares why not', async () => {
  const countEntries = async (orgId: string) => {
    const [row] = await plane().database.sql<{ n: number }[]>`
      select count(*) n from audit_entries where org_id = ${orgId}`;
    return row!.n;
  };
  for (const route of routes()) {
    const { owner, call } = await prepareExample(route);
    const before = await countEntries(owner.orgId);
    const answer = await expectSuccess(route, owner, call);
    const payload = payloads.get(answer.headers.get('x-request-id')!);
    // A streamed or text response (an export) passes no serialiser.
    if (payload === undefined) expect(answer.headers.get('content-disposition')).not.toBeNull();
    else expect([routeName(route), answer.body]).toEqual([routeName(route), payload]);
    if (!isWrite(route)) continue;
    const left = (await countEntries(owner.orgId)) - before;
    const reason = exampleOf(route).unaudited;
    expect([routeName(route), left > 0 || reason !== undefined]).toEqual([routeName(route), true]);
  }
});

test('input: every body rejects unknown fields by name, bodies that are not objects, and values of a wrong type', async () => {
  for (const route of routes()) {
    if (route.schema?.body === undefined) continue;
    const { owner, call } = await prepareExample(route);
    const surprised = await callExample(owner, route, { ...call, body: { ...call.body, surprise: 1 } });
    expect([routeName(route), surprised.status, surprised.body]).toEqual([
      routeName(route),
      400,
      exampleOf(route).oauthErrors === true
        ? { error: 'invalid_request', error_description: "unknown field 'surprise'" }
        : { error: 'unknown field "surprise"' },
    ]);
    for (const body of [[], null, 'text', 7] as unknown[]) {
      const answer = await callExample(owner, route, { ...call, body: body as Record<string, unknown> });
      expect([routeName(route), body, answer.status]).toEqual([routeName(route), body, 400]);
    }
    for (const name of Object.keys(call.body ?? {})) {
      // No field of the API is a nested array of arrays, so this is wrong for each, and is not coerced.
      const answer = await callExample(owner, route, { ...call, body: { ...call.body, [name]: [[[]]] } });
      expect([routeName(route), name, answer.status]).toEqual([routeName(route), name, 400]);
      expect(answer.body.error_description ?? answer.body.error).toContain(name);
    }
  }
});

const HOSTILE_VALUES: readonly unknown[] = [
  'a\u0000b',
  '\ud800',
  'x'.repeat(100_000),
  "'; drop table users; --",
  '',
  -1,
  2 ** 53,
  1e300,
  0.5,
  true,
  null,
  {},
  [],
  ['a\u0000b'],
  { '\u0000': 'a\u0000b' },
];

type InputPart = 'body' | 'querystring' | 'params';

/** What validates a field, as text. Null: the schema of its part has no own schema for the field. */
function findFieldSchema(route: RouteEntry, part: InputPart, name: string): string | null {
  const field = (route.schema?.[part] as { properties?: Record<string, unknown> } | undefined)?.properties?.[name];
  if (field === undefined) return null;
  const isText = (key: string, value: unknown): boolean => key === 'description' && typeof value === 'string';
  return JSON.stringify(field, (key, value) => (isText(key, value) ? undefined : value));
}

test('input: no value of any field, query parameter or path parameter causes a 500', async () => {
  const wrong: unknown[] = [];
  // What a schema rejects reaches no handler, so fields with the same schema reject it alike: one of them tries it.
  const rejected = new Set<string>();
  const triesEverywhere = process.env.PROPERTY_RUNS !== undefined;
  for (const route of routes()) {
    const { owner, call } = await prepareExample(route);
    const attempt = async (part: InputPart, name: string, value: unknown, changed: ExampleCall) => {
      const schema = findFieldSchema(route, part, name);
      const pair = JSON.stringify([part, schema, value, exampleOf(route).oauthErrors]);
      if (rejected.has(pair) && !triesEverywhere) return;
      const { status, headers } = await callExample(owner, route, changed);
      if (status >= 500) wrong.push([routeName(route), name, value, status]);
      if (status === 400 && schema !== null && !accepted.has(headers.get('x-request-id')!)) rejected.add(pair);
    };
    const query = route.schema?.querystring as { properties?: object } | undefined;
    for (const value of HOSTILE_VALUES) {
      const text = typeof value === 'string' ? value.slice(0, 4_000) : JSON.stringify(value);
      for (const name of Object.keys(call.body ?? {})) {
        await attempt('body', name, value, { ...call, body: { ...call.body, [name]: value } });
      }
      for (const name of Object.keys(query?.properties ?? {})) {
        await attempt('querystring', name, value, { ...call, query: { ...call.query, [name]: text } });
      }
      for (const name of Object.keys(call.params ?? {})) {
        if (text !== '') await attempt('params', name, value, { ...call, params: { ...call.params, [name]: text } });
      }
    }
  }
  expect(wrong).toEqual([]);
});

test('lists: limit 1–100, default 50; offset from 0; total, limit and offset in the response, or the next cursor', async () => {
  const propertiesOf = (route: RouteEntry): Record<string, unknown> =>
    (route.schema?.querystring as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
  const lists = routes().filter((route) => propertiesOf(route).limit !== undefined);
  expect(lists.length).toBeGreaterThanOrEqual(3);
  for (const route of lists) {
    const { owner, call } = await prepareExample(route);
    const ask = (query: Record<string, string>) =>
      callExample(owner, route, { ...call, query: { ...call.query, ...query } });
    const hasCursor = propertiesOf(route).cursor !== undefined;
    const first = hasCursor ? { limit: 50, nextCursor: null } : { limit: 50, offset: 0 };
    expect([routeName(route), (await ask({})).body]).toMatchObject([routeName(route), first]);
    const page = await ask(hasCursor ? { limit: '1' } : { limit: '1', offset: '2' });
    expect([routeName(route), page.body]).toMatchObject([
      routeName(route),
      hasCursor ? { limit: 1, nextCursor: null } : { limit: 1, offset: 2, total: expect.any(Number) },
    ]);
    for (const query of [
      { limit: '0' },
      { limit: '101' },
      { limit: 'x' },
      { limit: '1.5' },
      hasCursor ? { cursor: '-1' } : { offset: '-1' },
      { limit: '' },
    ]) {
      expect([routeName(route), query, (await ask(query as Record<string, string>)).status]).toEqual([
        routeName(route),
        query,
        400,
      ]);
    }
  }
});

// Runs last, because it checks the responses of all other tests.
test('statuses: the document declares every response of the tests above', () => {
  const known = new Set(plane().service.app.routeTable.map(routeName));
  const untold = [...answers].filter((answer) => {
    const [method = '', url = '', status = ''] = answer.split(' ');
    if (!known.has(`${method} ${url}`) || url === '/v1/openapi.json') return false;
    return !Object.keys(operationOf(method, url)?.responses ?? {}).includes(status);
  });
  expect(untold).toEqual([]);
  expect(answers.size).toBeGreaterThan(known.size); // guards against an empty check: most routes respond in two ways here
});
