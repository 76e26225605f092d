/**
 * What the gateway lets through to an MCP server. The attack test reads each passed body as servers of many kinds would:
 * the first or the last of two members, names in any case, escapes, headers instead of the body.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareMcpHeaders } from './compare-mcp-headers.js';
import { type McpMessage, McpMessageReader, type McpProblem } from './mcp-message-reader.js';
import { getMcpPolicy, McpPolicy } from './mcp-policy.js';

const NONE = { tools: null, resources: null, prompts: null };
const only = (...allow: string[]) => ({ allow, deny: [] });
const without = (...deny: string[]) => ({ allow: null, deny });

function read(body: Buffer | string, pieceBytes = Number.POSITIVE_INFINITY): McpMessage | McpProblem {
  const bytes = Buffer.from(body);
  const reader = new McpMessageReader();
  for (let at = 0; at < bytes.length; at += Math.min(pieceBytes, bytes.length))
    reader.observe(bytes.subarray(at, at + pieceBytes));
  return reader.finish(bytes);
}

const call = (method: string, params: object, id: unknown = 1): McpMessage => {
  const message = read(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  if ('code' in message) throw new Error(message.message);
  return message;
};

test.each([
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}', 'request'],
  ['{"jsonrpc":"2.0","id":"a\\u0062","method":"ping","params":{}}', 'request'],
  ['{"jsonrpc":"2.0","method":"notifications/initialized"}', 'notification'],
  ['{"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}', 'response'],
  ['{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}', 'response'],
])('mcp message: %s is a %s', (body, kind) => {
  for (const pieceBytes of [1, 1000]) expect(read(body, pieceBytes)).toMatchObject({ kind });
});

test.each([
  ['', -32700],
  ['{"jsonrpc":"2.0","id":1,"method":"ping"', -32700],
  ['{"jsonrpc":"2.0","id":1,"method":"ping"}{}', -32700],
  ['\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}', -32700],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
  ['"ping"', -32600],
  ['{"id":1,"method":"ping"}', -32600],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","\\u006eame":"b"}}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","NAME":"b"}}', -32600],
  ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', -32600],
  ['{"jsonrpc":"2.0","id":1}', -32600],
  ['{"jsonrpc":"2.0","result":{}}', -32600],
])('mcp message: %j is rejected with %i', (body, code) => {
  for (const pieceBytes of [1, 1000]) expect(read(body, pieceBytes)).toMatchObject({ code });
});

test('mcp message: an error names the id of the request where it can be read', () => {
  expect(read('{"jsonrpc":"1.0","id":"x-1","method":"ping"}')).toMatchObject({ idText: '"x-1"' });
  expect(read('{"jsonrpc":"2.0","id":3')).toMatchObject({ idText: null });
});

test.each([
  ['tools/call', { name: 'read_issue' }, true],
  ['tools/call', { name: 'delete_issue' }, false],
  ['tools/call', { name: 'read_\u0000issue' }, false],
  ['tools/call', { name: 7 }, false],
  ['tools/call', {}, false],
  ['prompts/get', { name: 'delete_issue' }, true],
  ['prompts/get', { name: 'secret' }, false],
  ['prompts/get', { name: 'SECRET' }, false],
  ['prompts/get', { name: 'ｓecret' }, false],
  ['resources/read', { uri: 'repo://me/a' }, true],
  ['resources/read', { uri: 'repo://me/a%20b' }, true],
  ['resources/read', { uri: 'repo://you/a' }, false],
  ['resources/read', { uri: 'repo://me/../you' }, false],
  ['resources/read', { uri: 'repo://me/%2e%2E/you' }, false],
  ['resources/read', { uri: 'repo://me/..%2fyou' }, false],
  ['resources/read', { uri: 'repo://me\\..\\you' }, false],
  ['resources/subscribe', { uri: 'repo://you/a' }, false],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'open' }, argument: {} }, true],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'secret' }, argument: {} }, false],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'open', Name: 'secret' }, argument: {} }, false],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'repo://me/{x}' }, argument: {} }, true],
  ['completion/complete', { ref: { type: 'ref/resource', uri: 'repo://you/{x}' }, argument: {} }, false],
  ['subscriptions/listen', { notifications: { resourceSubscriptions: ['repo://me/a'] } }, true],
  ['subscriptions/listen', { notifications: { toolsListChanged: true } }, true],
  ['subscriptions/listen', { notifications: { resourceSubscriptions: ['repo://me/a', 'repo://you/a'] } }, false],
  ['subscriptions/listen', { notifications: { resourceSubscriptions: 'repo://me/a' } }, false],
  ['subscriptions/listen', { notifications: { ResourceSubscriptions: ['repo://you/a'] } }, false],
  ['tools/list', {}, true],
  ['resources/templates/list', {}, true],
  ['tasks/get', { taskId: 't' }, true],
  ['tasks/list', {}, false],
  ['vendor/export', {}, false],
])('mcp policy: %s of %j is allowed: %s', (method, params, isAllowed) => {
  const policy = new McpPolicy({ tools: only('read_*'), resources: only('repo://me/*'), prompts: without('secret') });
  expect(policy.check(call(method, params)) === null).toBe(isAllowed);
});

test('mcp policy: a rule for tools leaves resources and prompts alone, and none allows everything', () => {
  const policy = new McpPolicy({ ...NONE, tools: only('read') });
  expect(policy.check(call('resources/read', { uri: 'x://y' }))).toBeNull();
  expect(policy.check(call('tools/call', { name: 'write' }))).toEqual({ code: -32602, message: 'Unknown tool: write' });
  expect(getMcpPolicy({ closed: false, calls: null, models: null })).toBeNull();
});

const modern = (version: string): object => ({ _meta: { 'io.modelcontextprotocol/protocolVersion': version } });
const NEW = '2026-07-28';
test.each([
  [[], { name: 'a' }, null],
  [['mcp-method', 'tools/call', 'mcp-name', 'a'], { name: 'a' }, null],
  [['mcp-method', 'tools/list'], { name: 'a' }, false],
  [['mcp-name', 'b'], { name: 'a' }, false],
  [['mcp-name', 'a', 'mcp-name', 'a'], { name: 'a' }, false],
  [['mcp-name', '=?base64?w6Q=?='], { name: 'ä' }, null],
  [['mcp-name', '=?base64?w6Q?='], { name: 'ä' }, false],
  [['mcp-name', '=?base64?/w==?='], { name: 'ä' }, false],
  [['mcp-protocol-version', NEW], { name: 'a' }, true],
  [['mcp-protocol-version', NEW, 'mcp-method', 'tools/call'], { name: 'a' }, true],
  [['mcp-protocol-version', NEW, 'mcp-method', 'tools/call', 'mcp-name', 'a'], { name: 'a', ...modern(NEW) }, null],
  [
    ['mcp-protocol-version', '2025-11-25', 'mcp-method', 'tools/call', 'mcp-name', 'a'],
    { name: 'a', ...modern(NEW) },
    true,
  ],
  [['mcp-method', 'tools/call', 'mcp-name', 'a'], { name: 'a', ...modern(NEW) }, true],
  [['mcp-param-repo', 'x'], { name: 'a', arguments: { deep: { repo: 'x' } } }, null],
  [['mcp-param-count', '42.0'], { name: 'a', arguments: { count: 42 } }, null],
  [['mcp-param-repo', 'y'], { name: 'a', arguments: { repo: 'x' } }, false],
  [['mcp-param-repo', 'x', 'mcp-param-repo', 'x'], { name: 'a', arguments: { repo: 'x' } }, false],
])('mcp headers: %j with %j', (headers, params, isModern) => {
  const message = call('tools/call', params);
  const mismatch = compareMcpHeaders(headers, message, () => (params as { arguments?: unknown }).arguments);
  expect(mismatch === null ? null : mismatch.isModern).toBe(isModern);
});

test.each([
  'delete_repo',
  'Delete_Repo',
  'ｄelete_repo',
  'de\u00adlete_repo',
  '\u200bdelete_repo',
  'delete_ßtuff',
  'delete_ıssue',
])('mcp policy: a denied tool is denied in the spelling %j', (name) => {
  const policy = new McpPolicy({ ...NONE, tools: without('delete_repo', 'delete_sstuff', 'delete_issue') });
  expect(policy.check(call('tools/call', { name }))).not.toBeNull();
  expect(policy.check(call('tools/call', { name: 'delete_ré po' }))).toBeNull();
});

test.each([
  ['repo://acme/a%20b%25', true],
  ['repo://acme/%C3%A4', true],
  ['repo://acme/100%', true],
  ['repo://acme/%252e%252e/evil', false],
  ['repo://acme/..;/evil', false],
  ['repo://acme/\u2025/evil', false],
  ['repo://acme/%EF%BC%8E%EF%BC%8E/evil', false],
  ['repo://acme/%2525252525252e', false],
])('mcp policy: a resource that a server may resolve to another one: %s', (uri, isAllowed) => {
  const policy = new McpPolicy({ ...NONE, resources: only('repo://acme/*') });
  expect(policy.check(call('resources/read', { uri })) === null).toBe(isAllowed);
});

test('mcp headers: any number of arguments is read', () => {
  const message = call('tools/call', { name: 'a' });
  const mismatch = (value: string) =>
    compareMcpHeaders(['mcp-param-a', value], message, () => ({ list: Array(300_000).fill(7) }));
  expect([mismatch('7'), mismatch('8')]).toEqual([null, expect.objectContaining({ isModern: false })]);
});

test('mcp lists: keep only what the agent may use, and no shared cache keeps them', () => {
  const policy = new McpPolicy({ tools: only('a*'), resources: without('x://secret*'), prompts: null });
  const tools = {
    tools: [{ name: 'ab' }, { name: 'b' }, {}, 'ac', { name: 7 }],
    cacheScope: 'public',
    nextCursor: 'n',
  };
  expect(policy.listFilter('tools/list')!.apply(tools)).toBe(true);
  expect(tools).toEqual({ tools: [{ name: 'ab' }], cacheScope: 'private', nextCursor: 'n' });
  const templates = { resourceTemplates: [{ uriTemplate: 'x://secret/{a}' }, { uriTemplate: 'x://{a}' }] };
  policy.listFilter('resources/templates/list')!.apply(templates);
  expect(templates.resourceTemplates).toEqual([{ uriTemplate: 'x://{a}' }]);
  expect(policy.listFilter('prompts/list')).toBeNull();
  expect(policy.listFilter('tools/call')).toBeNull();
  const broken = { tools: { 0: { name: 'b' } } };
  policy.streamFilter.apply(broken as never);
  expect(broken.tools).toEqual([]);
});

/** Tools of the attacked server; an agent may call only the first. */
const TOOLS = ['read', 'delete'] as const;
const POLICY = new McpPolicy({ ...NONE, tools: only('read') });
const escaped = (text: string) =>
  fc.constantFrom(text, `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(1)}`);
const spelled = (text: string) =>
  fc.oneof(
    { weight: 24, arbitrary: fc.constant(text) },
    { weight: 1, arbitrary: escaped(text) },
    { weight: 1, arbitrary: fc.constantFrom(text.toUpperCase(), ` ${text}`, `${text}\\u0000`, `\\ufeff${text}`) },
  );
const tool = fc.oneof(spelled('read'), spelled('delete'));
const nameMember = fc.tuple(spelled('name'), tool).map(([key, value]) => `"${key}":"${value}"`);
const noise = fc.constantFrom('"arguments":{"name":"delete"}', '"_meta":{}', '"a":[1,{"name":"delete"}]', '"task":{}');
const paramsText = fc
  .tuple(fc.array(nameMember, { minLength: 1, maxLength: 2 }), fc.array(noise, { maxLength: 2 }), fc.boolean())
  .map(([names, others, isLast]) => `{${(isLast ? [...others, ...names] : [...names, ...others]).join(',')}}`);
const member = (key: string, value: fc.Arbitrary<string>) =>
  fc.tuple(spelled(key), value).map(([name, text]) => `"${name}":${text}`);
const often = (usual: string, ...rare: string[]) =>
  fc.oneof({ weight: 24, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });
const messageText = fc
  .tuple(
    member('jsonrpc', often('"2.0"', '"1.0"', '2', '"2\\u002e0"')),
    member('id', often('1', '"x"', 'null', '{}')),
    member('method', often('"tools/call"', '"tools\\/call"', '"TOOLS/CALL"', '"tools/list"', '"t\\u006fols/call"')),
    member('params', paramsText),
    fc.option(fc.oneof(member('params', paramsText), member('method', fc.constant('"tools/call"'))), { freq: 4 }),
    often('{', '[{', '\ufeff{', ' {', '{}{'),
    often('}', '}]', '}{}', '', '},{}'),
  )
  .map(
    ([version, id, method, params, again, open, close]) =>
      open + [version, id, method, params, ...(again === null ? [] : [again])].join(',') + close,
  );
const headerText = fc.array(
  fc.tuple(
    fc.constantFrom('mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-param-name'),
    fc.constantFrom(
      'tools/call',
      'read',
      'delete',
      '=?base64?ZGVsZXRl?=',
      '=?base64?cmVhZA==?=',
      '2026-07-28',
      '2025-11-25',
      'x',
    ),
  ),
  { maxLength: 3 },
);

/** The tool that a server of some kind would run; `''`: none. */
function toolAtServer(
  body: string,
  headers: readonly string[],
  kind: { first: boolean; fold: boolean; byHeader: boolean },
): string {
  const fold = (text: string): string =>
    kind.fold
      ? text
          .normalize('NFKC')
          .replace(/[\0\ufeff]/g, '')
          .trim()
          .toLowerCase()
      : text;
  if (kind.byHeader) {
    const at = headers.indexOf('mcp-name');
    const value = at < 0 ? '' : headers[at + 1]!;
    const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
    const name = encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
    if (at >= 0) return fold(name);
  }
  const values = new Map<string, string>();
  // A lenient reader of the members that this test writes, with duplicates.
  for (const [, key, value] of body
    .replace(/"arguments":\{[^}]*\}|"a":\[[^\]]*\]/g, '""')
    .matchAll(/"((?:[^"\\]|\\.)*)":"((?:[^"\\]|\\.)*)"/g)) {
    const name = fold(JSON.parse(`"${key}"`) as string);
    if (!kind.first || !values.has(name)) values.set(name, JSON.parse(`"${value}"`) as string);
  }
  return fold(values.get('name') ?? '');
}

const KINDS = [false, true].flatMap((first) =>
  [false, true].flatMap((fold) => [false, true].map((byHeader) => ({ first, fold, byHeader }))),
);
/** 10 000; 100 000 and more in `npm run test:deep`. */
const ATTACKS = Math.min(100_000, 100 * Number(process.env.PROPERTY_RUNS ?? 100));

test(`mcp attack: of ${ATTACKS} mutated requests no denied tool passes, and nothing allowed is rejected`, () => {
  let passed = 0;
  let plain = 0;
  fc.assert(
    fc.property(messageText, headerText, fc.constantFrom(1, 7, 4096), (body, pairs, pieceBytes) => {
      const headers = pairs.flat();
      const message = read(body, pieceBytes);
      const passes =
        !('code' in message) &&
        POLICY.check(message) === null &&
        compareMcpHeaders(headers, message, () => JSON.parse(body).params?.arguments) === null;
      const isPlain =
        headers.length === 0 &&
        /^\{"jsonrpc":"2\.0","id":(?:1|"x"),"method":"tools\/call","params":\{"name":"read"(?:,"_meta":\{\})?\}\}$/.test(
          body,
        );
      if (isPlain) plain++;
      if (isPlain) expect(passes, body).toBe(true);
      if (!passes) return;
      passed++;
      if ((message as McpMessage).method !== 'tools/call') return;
      for (const kind of KINDS) expect(TOOLS.indexOf(toolAtServer(body, headers, kind) as 'read'), body).not.toBe(1);
    }),
    { numRuns: ATTACKS },
  );
  expect(passed).toBeGreaterThan(ATTACKS / 100);
  expect(plain).toBeGreaterThan(ATTACKS / 1_000);
}, 300_000);
