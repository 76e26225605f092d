/**
 * Compares the command line with the management API: every operation is called in its sources, or listed below with the
 * reason. `acg api` reaches all operations and does not count.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SOURCES = fileURLToPath(new URL('../../../controlplane/cli/src/', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../../controlplane/openapi.json', import.meta.url));

const MAILED = 'done on the page that a mail links to';
const APPROVAL = 'the other end of acg login: the page on which a person lets a program in';
const BROWSER = 'the session of a browser, which has a cookie';
const AT_THE_DASHBOARD = 'concerns the person, whom a terminal cannot tell from a program: in the dashboard';
const SAME_FIGURES = 'the same figures by the calls for any scope, with agentId';

const LEFT_OUT: Readonly<Record<string, string>> = {
  'POST /v1/auth/forgot-password': MAILED,
  'POST /v1/auth/reset-password': MAILED,
  'POST /v1/auth/verify-email': MAILED,
  'POST /v1/auth/resend-verification': MAILED,
  'POST /v1/invitations/accept': MAILED,
  'POST /v1/invitations/lookup': MAILED,
  'DELETE /v1/members/{userId}/sessions/{sessionId}': 'acg members end-sessions ends all; one of them in the dashboard',
  'POST /v1/auth/device/lookup': APPROVAL,
  'POST /v1/auth/device/approve': APPROVAL,
  'POST /v1/auth/device/deny': APPROVAL,
  'POST /v1/session': BROWSER,
  'PATCH /v1/session': BROWSER,
  'DELETE /v1/session': BROWSER,
  'POST /v1/auth/change-password': AT_THE_DASHBOARD,
  'GET /v1/second-factor': AT_THE_DASHBOARD,
  'POST /v1/second-factor': AT_THE_DASHBOARD,
  'POST /v1/second-factor/confirm': AT_THE_DASHBOARD,
  'POST /v1/second-factor/recovery-codes': AT_THE_DASHBOARD,
  'DELETE /v1/second-factor': AT_THE_DASHBOARD,
  'POST /v1/sso/start': BROWSER,
  'POST /v1/sso/link': BROWSER,
  'POST /v1/providers/accounts/{id}/connect': BROWSER,
  'POST /v1/credentials/{id}/connect': BROWSER,
  'POST /v1/connections': BROWSER,
  'PATCH /v1/me': AT_THE_DASHBOARD,
  'DELETE /v1/members/me': AT_THE_DASHBOARD,
  'GET /v1/usage/agents/{agentId}': SAME_FIGURES,
  'GET /v1/usage/agents/{agentId}/summary': SAME_FIGURES,
  'GET /v1/usage/agents/{agentId}/timeseries': SAME_FIGURES,
  'GET /v1/usage/agents/{agentId}/providers': SAME_FIGURES,
  'GET /v1/usage/agents/{agentId}/logs': SAME_FIGURES,
  'GET /v1/usage/agents/{agentId}/export': SAME_FIGURES,
};

/**
 * `operation: 'GET /v1/projects'`, `client.get('/v1/projects', …)` and `client.send('GET', '/v1/usage/export?…')`; the
 * types hold the first two to the document.
 */
const CALLS = [
  /'([A-Z]+) (\/v1\/[^']+)'/g,
  /\.(get|post|put|patch|delete)\(\s*'(\/v1\/[^']+)'/g,
  /\.send\(\s*'([A-Z]+)',\s*[`'](\/v1\/[^`'?$]+)/g,
] as const;

function calledOperations(): ReadonlySet<string> {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  );
  const sources = files.map((path) => readFileSync(SOURCES + path, 'utf8'));
  const found = sources.flatMap((text) => CALLS.flatMap((pattern) => [...text.matchAll(pattern)]));
  return new Set(found.map(([, method, path]) => `${method!.toUpperCase()} ${path}`));
}

function documented(): readonly string[] {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as { paths: Record<string, object> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
}

test('every operation has a command, or a reason why it has none', () => {
  const called = calledOperations();
  const without = documented().filter((operation) => !called.has(operation) && LEFT_OUT[operation] === undefined);
  const advice = (operation: string): string =>
    `${operation}: add a command to controlplane/cli/src/commands/resources, or a reason to LEFT_OUT in this file`;
  expect(without.map(advice)).toEqual([]);
});

test('every operation listed as left out exists and is left out', () => {
  const called = calledOperations();
  const known = new Set(documented());
  expect(Object.keys(LEFT_OUT).filter((operation) => !known.has(operation) || called.has(operation))).toEqual([]);
});
