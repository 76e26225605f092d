/**
 * One example call per route, by `METHOD url` as declared. The generated tests (access.test.ts, contract.test.ts) fail
 * for a route that has none: add it to the file of its feature, and the file here.
 */
import type { ApiResponse } from '../../fixtures/api-call.js';
import type { Member } from '../../fixtures/control-plane.js';
import { ALERT_EXAMPLES } from './alerts.js';
import { BILLING_EXAMPLES } from './billing.js';
import { CONNECTION_EXAMPLES } from './connections.js';
import { EVENT_EXAMPLES } from './events.js';
import { IDENTITY_EXAMPLES } from './identity.js';
import { ISSUER_EXAMPLES } from './issuer.js';
import { PERSONAL_AGENT_EXAMPLES } from './personal-agents.js';
import { PROVISIONING_EXAMPLES } from './provisioning.js';
import type { ExampleCall, Examples, RouteExample } from './route-example.js';
import { RUN_EXAMPLES } from './runs.js';
import { TRUST_RULE_EXAMPLES } from './trust-rules.js';
import { USAGE_EXAMPLES } from './usage.js';

export const EXAMPLES: Examples = {
  ...IDENTITY_EXAMPLES,
  ...PROVISIONING_EXAMPLES,
  ...EVENT_EXAMPLES,
  ...ALERT_EXAMPLES,
  ...USAGE_EXAMPLES,
  ...BILLING_EXAMPLES,
  ...RUN_EXAMPLES,
  ...TRUST_RULE_EXAMPLES,
  ...CONNECTION_EXAMPLES,
  ...PERSONAL_AGENT_EXAMPLES,
  ...ISSUER_EXAMPLES,
};

interface RouteKey {
  readonly method: string;
  readonly url: string;
}

export const exampleOf = ({ method, url }: RouteKey): RouteExample => EXAMPLES[`${method} ${url}`]!;

/** The routes that have an example; contract.test.ts fails for the others and says what to add. */
export const routesWithExample = <T extends RouteKey>(routes: readonly T[]): readonly T[] =>
  routes.filter((route) => exampleOf(route) !== undefined);

/** The path with its parameters and query filled in. */
function pathOf(url: string, { params = {}, query = {} }: ExampleCall): string {
  const path = url.replace(/:([A-Za-z]+)/g, (_, name: string) =>
    encodeURIComponent((params[name] ?? '').replace(/\p{Surrogate}/gu, '\ufffd')),
  );
  const search = new URLSearchParams(query).toString();
  return search === '' ? path : `${path}?${search}`;
}

export const callExample = (by: Pick<Member, 'call'>, route: RouteKey, call: ExampleCall): Promise<ApiResponse> =>
  by.call(route.method, pathOf(route.url, call), call.body, call.headers);
