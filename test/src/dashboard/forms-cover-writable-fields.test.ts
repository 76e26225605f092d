/** Every field that the API lets people write has its place in the dashboard, or a reason why not. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AGENT_LIMITS } from '@acg/base/limit-definitions';
import { expect, test } from 'vitest';

const source = fileURLToPath(new URL('../../../controlplane/dashboard/src', import.meta.url));
const document = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../controlplane/openapi.json', import.meta.url)), 'utf8'),
) as OpenApi;

interface Schema {
  readonly $ref?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly anyOf?: readonly Schema[];
}
interface OpenApi {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<string, { readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> } }>
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Operations, or `operation field`, that the dashboard does not offer. Each line says why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'post /v1/auth/login': 'the dashboard logs in with POST /v1/session, which answers no token to scripts',
  'post /v1/auth/refresh': 'for clients that hold tokens; the dashboard has a cookie',
  'post /v1/auth/switch-org': 'for clients that hold tokens; the dashboard uses PATCH /v1/session',
  'post /v1/auth/logout': 'for clients that hold tokens; the dashboard uses DELETE /v1/session',
  'post /v1/auth/device': 'the command line begins a device login',
  'post /v1/auth/device/token': 'the command line ends a device login',
  'post /v1/auth/device/lookup': 'a page that the server renders',
  'post /v1/auth/device/approve': 'a page that the server renders',
  'post /v1/auth/device/deny': 'a page that the server renders',
  'post /v1/auth/reset-password': 'a page that the server renders',
  'post /v1/auth/verify-email': 'a page that the server renders',
  'post /v1/invitations/lookup': 'a page that the server renders',
  'post /v1/invitations/accept': 'a page that the server renders',
  'post /v1/connections': 'a page that the server renders',
  'post /v1/token': 'for workloads without a gateway token (trust rules)',
  'post /v1/sso/link': 'a page that the server renders',
  'post /v1/limits/replay sharedBudgets': 'the dashboard replays one agent at a time',
  'post /v1/personal-agents/keys': 'acg run creates it for the program that it starts',
  'post /v1/archive/verify': 'a check for operators: acg archive verify',
};

/** Fields whose screen another change brings; a line goes when it is there. */
const SCREEN_FOLLOWS: ReadonlySet<string> = new Set([
  'post /v1/agents auditLimits', // the screen of budgets by window
  'patch /v1/agents/{id} auditLimits',
  'patch /v1/orgs/{id} agentDefaults',
  'patch /v1/projects/{id} agentDefaults',
]);

interface SourceFile {
  readonly folder: string;
  readonly isShared: boolean;
  readonly text: string;
}
const files: readonly SourceFile[] = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('.test.'))
  .map((name) => ({
    folder: dirname(name),
    isShared: !name.startsWith('screens/'),
    text: readFileSync(join(source, name), 'utf8'),
  }));

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1)!]!);
const fieldsOf = (schema: Schema): readonly string[] => {
  const { properties = {}, anyOf = [] } = resolve(schema);
  return [...new Set([...Object.keys(properties), ...anyOf.flatMap(fieldsOf)])];
};

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, { requestBody }]) => {
    if (!['post', 'put', 'patch'].includes(method)) return [];
    const schema = Object.values(requestBody?.content ?? {})[0]?.schema;
    return [{ method, path, fields: schema === undefined ? [] : fieldsOf(schema) }];
  }),
);

/** What the dashboard does not offer: operations that no file calls, and fields that no file beside the call names. */
function findMissing(): readonly string[] {
  return operations.flatMap(({ method, path, fields }) => {
    const name = `${method} ${path}`;
    const callers = files.filter(({ text }) =>
      new RegExp(`api\\s*\\.${method}\\(\\s*'${escapeRegExp(path)}'`).test(text),
    );
    if (callers.length === 0) return [name];
    const folders = new Set(callers.map(({ folder }) => folder));
    const near = files.filter(
      ({ folder, isShared }) => isShared || callers.some((one) => one.isShared) || folders.has(folder),
    );
    const limits = path.startsWith('/v1/agents') ? AGENT_LIMITS.map(({ field }) => String(field)) : [];
    const isNamed = (field: string) =>
      limits.includes(field) || near.some(({ text }) => new RegExp(`\\b${escapeRegExp(field)}\\b`).test(text));
    return fields.filter((field) => !isNamed(field)).map((field) => `${name} ${field}`);
  });
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');

test('offers every operation with every field, except those with a reason', () => {
  expect(operations.length).toBeGreaterThan(40); // the document was read
  const missing = findMissing();
  expect(missing.filter((name) => EXCEPTIONS[name] === undefined && !SCREEN_FOLLOWS.has(name))).toEqual([]);
});

test('keeps no exception that is not needed', () => {
  const missing = new Set(findMissing());
  expect(Object.keys(EXCEPTIONS).filter((name) => !missing.has(name))).toEqual([]);
});
