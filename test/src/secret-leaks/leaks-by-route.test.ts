/**
 * Calls every route with known secrets at the most verbose log level: once normally, once while the database rejects
 * writes. Secrets of requests and created secrets appear in no log line, no row and no response except the one that
 * returns them. Generated from the route table.
 */
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import type { ApiResponse } from '../fixtures/api-call.js';
import { type Member, type TestControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { SecretLeakDetector } from '../fixtures/secret-leak-detector.js';
import { readAllRows } from '../tenant-isolation/find-rows-of-tenant.js';

const plane = useControlPlane({ LOG_LEVEL: 'trace' });
const routes = (): readonly RouteEntry[] => routesWithExample(plane().service.app.routeTable);

const secrets = new SecretLeakDetector();

/** Secrets that a response returns in addition to those that it is the first to return. */
function findRepeatedSecrets(where: string, { body, headers }: ApiResponse): readonly string[] {
  const shown = secrets.findVerbatim(typeof body === 'string' ? body : JSON.stringify(body));
  if (where !== 'GET /v1/openapi.json') secrets.addFromBody(where, body); // its members are field names
  for (const cookie of headers.getSetCookie()) secrets.add(where, /=([^;]*)/.exec(cookie)![1]!);
  return shown;
}

/** The same control plane and member; their traffic is collected. */
function recordingTenant(where: string, shown: string[]): { plane: TestControlPlane; member: (m: Member) => Member } {
  const heard = (body: unknown, answer: ApiResponse): ApiResponse => {
    secrets.addFromBody(where, body);
    shown.push(...findRepeatedSecrets(where, answer).map((origin) => `${where}: ${origin}`));
    return answer;
  };
  const member = (one: Member): Member => ({
    ...one,
    call: async (method, path, body, headers) => heard(body, await one.call(method, path, body, headers)),
  });
  const own = plane();
  const wrapped: TestControlPlane = {
    ...own,
    call: async (method, path, options) => heard(options?.body, await own.call(method, path, options)),
    createMember: async (role, orgId) => member(await own.createMember(role, orgId)),
    waitForMail: async (to, subject) => {
      const mail = await own.waitForMail(to, subject);
      secrets.add(where, mail.token);
      return mail;
    },
  };
  return { plane: wrapped, member };
}

const setWritesRejected = (rejected: boolean): Promise<unknown> =>
  plane().database.sql.unsafe(`
    create or replace function accepts_writes() returns boolean language plpgsql as 'begin return ${!rejected}; end'`);

/** Every table except those that are written before a route starts consults the function. */
async function constrainTables(): Promise<void> {
  const { sql } = plane().database;
  const tables = await sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
       and not relispartition and relname !~ '^(throttle_|sessions$|idempotency_|circuit)' order by relname`;
  // Each table by itself: no deadlock.
  for (const { name } of tables) {
    await sql.unsafe(`alter table ${name} add constraint never check (accepts_writes()) not valid`);
  }
}

test('secrets: no route, successful or failing, leaks a secret into a log line, a row or a second response', async () => {
  const shown: string[] = [];
  let failures = 0;
  await setWritesRejected(false);
  await constrainTables();
  for (const route of routes()) {
    const where = `${route.method} ${route.url}`;
    const { plane: heard, member } = recordingTenant(where, shown);
    for (const broken of route.method === 'GET' ? [false] : [false, true]) {
      const owner = member(await plane().createMember('owner'));
      const call = await exampleOf(route).prepare({ plane: heard, owner, caller: owner });
      if (broken) await setWritesRejected(true);
      const answer = await callExample(owner, route, call);
      if (broken) await setWritesRejected(false);
      if (broken && answer.status === 500) failures++;
    }
  }
  expect(shown).toEqual([]);
  expect(secrets.size).toBeGreaterThan(50);
  expect(failures).toBeGreaterThan(30);
  const log = plane().logLines.join('');
  const rows = [...(await readAllRows(plane().database.sql)).entries()].map(
    ([table, texts]) => `${table}: ${texts.join('\n')}`,
  );
  expect(log).toContain('request failed');
  expect(secrets.findEncoded(log)).toEqual([]);
  expect(
    rows.flatMap((text) =>
      secrets.findEncoded(text).map((where) => `${where}: in ${text.slice(0, text.indexOf(':'))}`),
    ),
  ).toEqual([]);
});
