/** Numbers of queries and bodies: each route responds to every value, also at the bounds of a field, with 400 or 200. */
import { expect, test } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';
import { callExample, exampleOf, routesWithExample } from './route-examples/index.js';

const plane = useControlPlane();

const NON_FINITE_VALUES = ['1e400', '-1e400', 'Infinity', '-Infinity', '9'.repeat(400)];
const EDGE_VALUES = [
  'NaN',
  '1e308',
  '-1e308',
  '1e21',
  '9007199254740993',
  '-9007199254740993',
  '2147483648',
  '1.5',
  '-1',
  '0x10',
  '',
];

/** The numeric fields of a route's query. */
function listNumericFields(schema: unknown): string[] {
  const { querystring } = (schema ?? {}) as { querystring?: { properties?: Record<string, { type?: string }> } };
  return Object.entries(querystring?.properties ?? {})
    .filter(([, { type }]) => type === 'integer' || type === 'number')
    .map(([name]) => name);
}

test('no numeric query value causes a 500, and a value that is not finite is 400 with the field s name', async () => {
  const routes = routesWithExample(plane().service.app.routeTable);
  const wrong: unknown[] = [];
  let tried = 0;
  for (const route of routes) {
    const fields = listNumericFields(route.schema);
    if (fields.length === 0) continue;
    const owner = await plane().createMember('owner');
    const call = await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
    for (const field of fields) {
      for (const value of [...NON_FINITE_VALUES, ...EDGE_VALUES]) {
        const answer = await callExample(owner, route, { ...call, query: { ...call.query, [field]: value } });
        tried++;
        const isInfinite = NON_FINITE_VALUES.includes(value);
        const good = isInfinite
          ? answer.status === 400 && String(answer.body.error).startsWith(`${field} `)
          : answer.status < 500;
        if (!good)
          wrong.push({ route: `${route.method} ${route.url}`, field, value, status: answer.status, body: answer.body });
      }
    }
  }
  expect(tried).toBeGreaterThan(300);
  expect(wrong).toEqual([]);
});

interface NumericSchema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly NumericSchema[];
}

/** Fields of a route's body, each with the least and the most that its schema allows. */
function listBounds(schema: unknown): [field: string, bound: number][] {
  const { body } = (schema ?? {}) as { body?: { properties?: Record<string, NumericSchema> } };
  return Object.entries(body?.properties ?? {}).flatMap(([field, one]) =>
    [one, ...(one.anyOf ?? [])]
      .filter(({ type }) => type === 'integer' || type === 'number')
      .flatMap(({ minimum, maximum }) => [minimum, maximum])
      .filter((bound) => bound !== undefined)
      .map((bound): [string, number] => [field, bound]),
  );
}

test('a number of a body at a bound of its schema causes no 500', async () => {
  const wrong: unknown[] = [];
  let tried = 0;
  for (const route of routesWithExample(plane().service.app.routeTable)) {
    for (const [field, bound] of listBounds(route.schema)) {
      const owner = await plane().createMember('owner');
      const call = await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
      const { status } = await callExample(owner, route, { ...call, body: { ...call.body, [field]: bound } });
      tried++;
      if (status >= 500) wrong.push({ route: `${route.method} ${route.url}`, field, bound, status });
    }
  }
  expect(wrong).toEqual([]);
  expect(tried).toBeGreaterThan(30);
});
