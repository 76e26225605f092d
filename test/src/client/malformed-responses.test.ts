/**
 * Responses match openapi.json: every route is called as in its example, and without credentials, and its response is
 * validated.
 */
import { readFileSync } from 'node:fs';
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import type { ApiResponse } from '../fixtures/api-call.js';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const document = JSON.parse(readFileSync(new URL('../../../controlplane/openapi.json', import.meta.url), 'utf8'));
// Unions of types and tuples of any length are valid; extensions of openapi.json are not JSON Schema.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });
ajvFormats.default(ajv);
ajv.addKeyword('x-refused');
for (const word of ['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components']) ajv.addKeyword(word);
ajv.addSchema(document, 'api');

const pointer = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

/** Returns the violations of a response; empty when it is valid. */
function deviation(route: RouteEntry, { status, body }: ApiResponse): unknown {
  const path = route.url.replace(/:([A-Za-z]+)/g, '{$1}');
  const method = route.method.toLowerCase();
  const declared = document.paths[path][method].responses[status];
  if (declared === undefined) return `status ${status} is not documented`;
  const place =
    declared.$ref === undefined ? `#/paths/${pointer(path)}/${method}/responses/${status}` : (declared.$ref as string);
  const validate = ajv.getSchema(`api${place}/content/application~1json/schema`)!;
  return validate(body) ? undefined : validate.errors;
}

const routes = (): readonly RouteEntry[] =>
  routesWithExample(plane().service.app.routeTable).filter(({ url }) => url !== '/v1/openapi.json');

test('the response of every route, with and without credentials, matches the document', async () => {
  const wrong: unknown[] = [];
  for (const route of routes()) {
    const owner = await plane().createMember('owner');
    const call = await exampleOf(route).prepare({ plane: plane(), owner, caller: owner });
    for (const answer of [
      await callExample({ ...owner, call: (method, path, body) => plane().call(method, path, { body }) }, route, call),
      await callExample(owner, route, call),
    ]) {
      const found = deviation(route, answer);
      if (found !== undefined) wrong.push([route.method, route.url, answer.status, found]);
    }
  }
  expect(wrong).toEqual([]);
});
