/**
 * One example call per route, by `METHOD url` as declared. The generated tests (access.test.ts, contract.test.ts) fail
 * for a route that has none: add it to the file of its feature, and the file here.
 */
import type { ApiResponse, Member } from '../../control-plane.js';
import type { ExampleCall, Examples, RouteExample } from './example.js';
import { IDENTITY_EXAMPLES } from './identity.js';

export const EXAMPLES: Examples = { ...IDENTITY_EXAMPLES };

export interface RouteKey {
  readonly method: string;
  readonly url: string;
}

export function exampleOf({ method, url }: RouteKey): RouteExample {
  const example = EXAMPLES[`${method} ${url}`];
  if (example === undefined) {
    throw new Error(
      `${method} ${url} has no example call: add '${method} ${url}' to a file in test/src/controlplane/examples ` +
        '(see example.ts); the matrices of roles and tenancy, the audit and the contract tests are generated from it',
    );
  }
  return example;
}

/** The path with its parameters and query filled in. */
export function pathOf(url: string, { params = {}, query = {} }: ExampleCall): string {
  const path = url.replace(/:([A-Za-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

export const callExample = (by: Pick<Member, 'call'>, route: RouteKey, call: ExampleCall): Promise<ApiResponse> =>
  by.call(route.method, pathOf(route.url, call), call.body);
