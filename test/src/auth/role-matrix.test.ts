/**
 * Checks which role may call each route and that organizations are isolated. Both are generated from the route table,
 * so that no new route is missed. The matrix is controlplane/ACCESS.md; `npx vitest run <this file> -u` rewrites it.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { RouteEntry } from '@acg/controlplane/http/record-declared-routes';
import { expect, test } from 'vitest';
import { callExample, exampleOf, routesWithExample } from '../controlplane/route-examples/index.js';
import type { Caller, ExampleCall } from '../controlplane/route-examples/route-example.js';
import { type Member, useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
const TOKENS = ['token: viewer', 'token: member', 'token: admin', 'token: other project'] as const;
const CALLER_KINDS: readonly Caller[] = ['none', ...ROLES, ...TOKENS];
const isToken = (caller: Caller): boolean => caller.startsWith('token: ');
const ACCESS_FILE = fileURLToPath(new URL('../../../controlplane/ACCESS.md', import.meta.url));

const routes = (): readonly RouteEntry[] => routesWithExample(plane().service.app.routeTable);
const anonymousCaller: Pick<Member, 'call'> = {
  call: (method, path, body, headers) =>
    plane().call(method, path, { body, ...(headers === undefined ? {} : { headers }) }),
};

function expectedStatusFor(route: RouteEntry, caller: Caller): number {
  const example = exampleOf(route);
  const given = example.statuses?.[caller];
  if (given !== undefined) return given;
  const success = example.success ?? 200;
  if (route.access === 'public') return isToken(caller) ? (example.statuses?.none ?? success) : success;
  if (caller === 'none') return 401;
  if (isToken(caller) && (route.access === 'session' || route.tokens === false)) return 403;
  if (route.access === 'session') return success;
  if (caller === 'token: other project') return example.otherProject ?? (route.project === undefined ? 403 : 404);
  const role = (isToken(caller) ? caller.slice('token: '.length) : caller) as (typeof ROLES)[number];
  return ROLES.indexOf(role) >= ROLES.indexOf(route.access) ? success : 403;
}

/** The callers. A token belongs to an owner, so only its own role limits it. */
async function createCaller(caller: Caller, owner: Member): Promise<Member | null> {
  if (caller === 'none') return null;
  if (!isToken(caller)) return plane().createMember(caller as (typeof ROLES)[number], owner.orgId);
  const role = caller === 'token: other project' ? 'admin' : caller.slice('token: '.length);
  const project =
    caller === 'token: other project' ? await owner.call('POST', '/v1/projects', { name: 'Other' }) : null;
  const scope = project === null ? {} : { projectId: project.body.project.id };
  const made = await owner.call('POST', '/v1/management-tokens', { name: caller, role, ...scope });
  const token = made.body.secretToken;
  return {
    ...owner,
    token,
    call: (method, path, body, headers = {}) => plane().call(method, path, { token, body, headers }),
  };
}

/** The callers of an organization whose calls change nothing there, for all routes. */
interface SharedCallers {
  readonly orgId: string;
  readonly callers: ReadonlyMap<Caller, Member | null>;
}

async function createSharedCallers(): Promise<SharedCallers> {
  const owner = await plane().createMember('owner');
  const callers = new Map<Caller, Member | null>();
  for (const kind of CALLER_KINDS) callers.set(kind, await createCaller(kind, owner));
  return { orgId: owner.orgId, callers };
}

/**
 * The call of each caller. Callers whose calls change nothing share an example in one organization: those that are
 * rejected, and all callers of a GET. Every other call needs a new one, and so does an example that depends on its caller.
 */
async function* prepareCalls(
  route: RouteEntry,
  sharedCallers: SharedCallers,
): AsyncGenerator<[Caller, Member | null, ExampleCall]> {
  const changesNothing = (kind: Caller): boolean => route.method === 'GET' || expectedStatusFor(route, kind) >= 400;
  // Another member each time, because some examples end the session of their owner.
  const owner = await plane().createMember('owner', sharedCallers.orgId);
  let dependsOnCaller = false;
  const shared = await exampleOf(route).prepare({
    plane: plane(),
    owner,
    get caller() {
      dependsOnCaller = true;
      return owner;
    },
  });
  for (const kind of CALLER_KINDS) {
    if (!dependsOnCaller && changesNothing(kind)) yield [kind, sharedCallers.callers.get(kind)!, shared];
    else {
      const owner = await plane().createMember('owner');
      const caller = await createCaller(kind, owner);
      yield [kind, caller, await exampleOf(route).prepare({ plane: plane(), owner, caller })];
    }
  }
}

test('roles: every route responds to every caller according to its declared access; the matrix is controlplane/ACCESS.md', async () => {
  const lines: string[] = [];
  const sharedCallers = await createSharedCallers();
  const byPath = [...routes()].sort((a, b) => (`${a.url} ${a.method}` < `${b.url} ${b.method}` ? -1 : 1));
  for (const route of byPath) {
    const cells: string[] = [];
    for await (const [role, caller, call] of prepareCalls(route, sharedCallers)) {
      const answer = await callExample(caller ?? anonymousCaller, route, call);
      const seen = { route: `${route.method} ${route.url}`, role, status: answer.status, error: answer.body?.error };
      expect(seen).toMatchObject({ status: expectedStatusFor(route, role) });
      cells.push(String(answer.status));
    }
    lines.push(`| ${route.method} ${route.url} | ${route.access} | ${cells.join(' | ')} |`);
  }
  await expect(formatAccessPage(lines)).toMatchFileSnapshot(ACCESS_FILE);
});

const formatAccessPage = (lines: readonly string[]): string => `# Who may do what

Generated by \`test/src/auth/role-matrix.test.ts\` from the routes themselves: each cell is the status that a call of
that route by that caller really had. \`npx vitest run test/src/auth/role-matrix.test.ts -u\` rewrites it; review the
difference. An id of another organization is always 404, whatever the role.

The last four columns are management tokens of an owner: with each role, and an admin's of another project.

| route | needs | no session | viewer | member | admin | owner | ${TOKENS.join(' | ')} |
|---|---|---|---|---|---|---|---|---|---|---|
${lines.join('\n')}
`;

/** The fields of a call that contain ids, according to their schema. */
function listIdFields(route: RouteEntry, part: 'querystring' | 'body'): readonly string[] {
  const schema = route.schema?.[part] as { properties?: Record<string, { format?: string }> } | undefined;
  return Object.entries(schema?.properties ?? {})
    .filter(([name, field]) => field.format === 'uuid' || /Ids?$/.test(name))
    .map(([name]) => name);
}

/** The call with one id of the other organization, for each position of an id. */
function createForeignCalls(route: RouteEntry, own: ExampleCall, other: ExampleCall): readonly [string, ExampleCall][] {
  const calls: [string, ExampleCall][] = [];
  for (const name of Object.keys(own.params ?? {})) {
    calls.push([name, { ...own, params: { ...own.params, [name]: other.params![name]! } }]);
  }
  for (const name of listIdFields(route, 'querystring')) {
    if (own.query?.[name] === undefined) continue;
    calls.push([name, { ...own, query: { ...own.query, [name]: other.query![name]! } }]);
  }
  for (const name of listIdFields(route, 'body')) {
    if (own.body?.[name] === undefined) continue;
    calls.push([name, { ...own, body: { ...own.body, [name]: other.body![name] } }]);
  }
  return calls;
}

async function countAuditEntries(orgId: string): Promise<number> {
  const [row] = await plane().database.sql<{ n: number }[]>`
    select count(*) n from audit_entries where org_id = ${orgId}`;
  return row!.n;
}

/** An unknown id is 404 and an invalid UUID is 400, in each position of an id in the path. */
async function expectUnknownIdsRejected(route: RouteEntry, owner: Member, call: ExampleCall): Promise<void> {
  const schema = route.schema?.params as { properties?: Record<string, { format?: string }> } | undefined;
  for (const [name, field] of Object.entries(schema?.properties ?? {})) {
    if (field.format !== 'uuid') continue;
    const status = async (id: string) =>
      (await callExample(owner, route, { ...call, params: { ...call.params, [name]: id } })).status;
    const seen = { route: `${route.method} ${route.url}`, unknown: await status(randomUUID()), bad: await status('x') };
    expect(seen).toMatchObject({ unknown: 404, bad: 400 });
  }
}

test('ids: unknown, invalid or of another organization: rejected in every position of every route, and nothing changes there', async () => {
  let places = 0;
  for (const route of routes()) {
    const example = exampleOf(route);
    const me = await plane().createMember('owner');
    const own = await example.prepare({ plane: plane(), owner: me, caller: me });
    await expectUnknownIdsRejected(route, me, own);
    if (createForeignCalls(route, own, own).length === 0) continue;
    const stranger = await plane().createMember('owner');
    const other = await example.prepare({ plane: plane(), owner: stranger, caller: stranger });
    const before = await countAuditEntries(stranger.orgId);
    for (const [field, call] of createForeignCalls(route, own, other)) {
      const answer = await callExample(me, route, call);
      const seen = { route: `${route.method} ${route.url}`, field, status: answer.status };
      expect(seen).toMatchObject({ status: example.foreign?.[field] ?? 404 });
      places++;
    }
    expect(await countAuditEntries(stranger.orgId)).toBe(before);
  }
  const inPaths = routes().flatMap(({ url }) => url.match(/:\w+/g) ?? []);
  expect(places).toBeGreaterThan(inPaths.length); // plus ids in queries and bodies
});

test('sessions: a session of another organization of the same user sees nothing of this one', async () => {
  const first = await plane().createMember('owner');
  const second = await plane().createMember('owner');
  const { id } = (await first.call('POST', '/v1/projects', { name: 'Mine' })).body.project;
  await plane().database.sql`
    insert into memberships (org_id, user_id, role) values (${second.orgId}, ${first.userId}, 'owner')`;
  const { body } = await first.call('POST', '/v1/auth/switch-org', { orgId: second.orgId });
  expect((await plane().call('GET', `/v1/projects/${id}`, { token: body.token })).status).toBe(404);
  expect((await first.call('GET', `/v1/projects/${id}`)).status).toBe(200);
});
