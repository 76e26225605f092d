/**
 * The official MCP clients of both eras, unmodified, against reference servers of both eras: with the gateway between
 * them they exchange the same messages as without it, streams, notifications and the server's own requests included.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { IModelRule } from '@acg/proto/messages';
import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { waitForCondition } from '../fixtures/stack.js';
import { InProcessGateway } from './in-process-gateway.js';

const SLUG = 'mcp-server';
const CREDENTIAL = 'server-credential';
const CAPABILITIES = { sampling: {} };
const INFO = { name: 'test', version: '1' };

let everything: ChildProcess;
let everythingOrigin: string;
let stateless: Server;
let statelessOrigin: string;
let gateway: InProcessGateway | null = null;

beforeAll(async () => {
  const port = await freePort();
  everythingOrigin = `http://127.0.0.1:${port}`;
  const script = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  everything = spawn(process.execPath, [script, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  await waitForCondition(async () => (await fetch(`${everythingOrigin}/mcp`)).status >= 400, 'the reference server');
  stateless = createServer((req, res) => void serveStateless(req, res));
  await new Promise<void>((resolve) => stateless.listen(0, '127.0.0.1', resolve));
  statelessOrigin = `http://127.0.0.1:${(stateless.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await gateway?.stop();
  gateway = null;
});

afterAll(() => {
  everything.kill('SIGKILL');
  stateless.closeAllConnections();
  stateless.close();
});

function createStatelessServer(): McpServer {
  const server = new McpServer({ name: 'stateless', version: '1' }, { capabilities: { tools: { listChanged: true } } });
  const inputSchema = fromJsonSchema<{ text: string }>({
    type: 'object',
    properties: { text: HEADER_TEXT },
    required: ['text'],
  });
  for (const name of ['read_issue', 'delete_issue'])
    server.registerTool(name, { description: name, inputSchema }, ({ text }) => ({
      content: [{ type: 'text', text: `${name} ${text}` }],
    }));
  return server;
}

/** The client mirrors this argument in a header. */
const HEADER_TEXT: Record<string, string> = { type: 'string', 'x-mcp-header': 'Text' };
const mcpHandler = createMcpHandler(createStatelessServer);

/** Serves a request of Node with the SDK's handler, which takes and returns those of the web. */
async function serveStateless(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const closed = new AbortController();
  res.on('close', () => closed.abort());
  const hasBody = req.method === 'POST';
  const response = await mcpHandler.fetch(
    new Request(`${statelessOrigin}${req.url}`, {
      method: req.method!,
      headers: req.headers as Record<string, string>,
      signal: closed.signal,
      ...(hasBody ? { body: Readable.toWeb(req) as ReadableStream, duplex: 'half' as const } : {}),
    }),
  );
  res.writeHead(response.status, Object.fromEntries(response.headers)).flushHeaders();
  if (response.body === null) res.end();
  else
    Readable.fromWeb(response.body as never)
      .on('error', () => res.destroy())
      .pipe(res);
}

/** The URL and the key by which a client reaches a server: directly, or through the gateway. */
async function routeTo(origin: string, throughGateway: boolean, tools?: IModelRule) {
  if (!throughGateway) return { url: new URL(`${origin}/mcp`), key: CREDENTIAL };
  const policy = tools === undefined ? {} : { policy: { tools } };
  const header = { name: 'authorization', prefix: 'Bearer ', secret: CREDENTIAL };
  gateway = await InProcessGateway.start(
    [{ slug: SLUG, origin, credentials: {}, upstream: { usageFormat: 'mcp', injection: { header }, ...policy } }],
    null,
    { mcpSessionKey: 'key of the agent' },
  );
  const { baseUrl, key } = gateway.route(SLUG);
  return { url: new URL(`${baseUrl}/mcp`), key };
}

type Route = Awaited<ReturnType<typeof routeTo>>;
const requestInit = ({ key }: Route) => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } });

interface Recorded {
  readonly results: unknown[];
  /** Notifications and requests of the server, sorted, because streams are not ordered among each other. */
  readonly unasked: string[];
}

/** Records what a client gets; the methods are those that both SDKs have. */
async function record(
  client: Client1 | Client2,
  transport: Transport1 | Transport2,
  use: (call: typeof client) => AsyncIterable<unknown>,
): Promise<Recorded> {
  const results: unknown[] = [];
  const unasked: string[] = [];
  await client.connect(transport as never);
  const onmessage = transport.onmessage as ((message: object, extra: unknown) => void) | undefined;
  transport.onmessage = ((message: object, extra: unknown) => {
    if ('method' in message) unasked.push(JSON.stringify(message));
    onmessage?.(message, extra);
  }) as never;
  for await (const result of use(client)) results.push(result);
  await client.close();
  return { results, unasked: unasked.sort() };
}

const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (result) => result,
    (error: Error & { code?: number }) => ({ code: error.code, message: error.message }),
  );

/** Members that differ between two runs against the same server. */
const withoutClock = (recorded: Recorded): unknown =>
  JSON.parse(JSON.stringify(recorded).replace(/\d{4}-\d\d-\d\dT[\d:.]+Z|\d{1,2}:\d\d:\d\d[^"\\]*/g, 'TIME'));

async function* useEverything(client: Client1 | Client2): AsyncIterable<unknown> {
  const one = client as Client1;
  yield await one.listTools();
  yield await one.callTool({ name: 'echo', arguments: { message: 'hällo \u2028' } });
  yield await one.callTool({ name: 'get-sum', arguments: { a: 1, b: 2 } });
  yield await one.callTool({ name: 'get-structured-content', arguments: { location: 'New York' } });
  yield await one.callTool({ name: 'get-tiny-image' });
  yield await one.callTool(
    { name: 'trigger-long-running-operation', arguments: { duration: 0.2, steps: 4 } },
    undefined,
    {
      onprogress: () => {},
    },
  );
  yield await failureOf(one.callTool({ name: 'missing' }));
  yield await one.listResources();
  yield await one.listResourceTemplates();
  yield await one.listPrompts();
  yield await failureOf(one.getPrompt({ name: 'simple-prompt' }));
  yield await failureOf(one.readResource({ uri: 'demo://missing' }));
  yield await one.ping();
}

function createClient1(): Client1 {
  const client = new Client1(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled' },
  }));
  return client;
}

test('mcp: client 1.x and a server with sessions exchange the same messages through the gateway', async () => {
  const runs: unknown[] = [];
  for (const throughGateway of [false, true]) {
    const route = await routeTo(everythingOrigin, throughGateway);
    runs.push(
      withoutClock(
        await record(createClient1(), new Transport1(route.url, requestInit(route)), async function* (client) {
          yield* useEverything(client);
          yield await client.callTool({ name: 'trigger-sampling-request', arguments: { prompt: 'p', maxTokens: 5 } });
        }),
      ),
    );
  }
  expect(runs[1]).toEqual(runs[0]);
  const { results, unasked } = runs[0] as Recorded;
  expect(results.length).toBe(14);
  expect(unasked.filter((text) => text.includes('notifications/progress')).length).toBeGreaterThan(1);
  expect(JSON.stringify(results)).toContain('sampled');
});

test('mcp: client 2.x and a server with sessions exchange the same messages through the gateway', async () => {
  const runs: unknown[] = [];
  for (const throughGateway of [false, true]) {
    const route = await routeTo(everythingOrigin, throughGateway);
    const client = new Client2(INFO, { versionNegotiation: { mode: 'auto' } });
    runs.push(withoutClock(await record(client, new Transport2(route.url, requestInit(route)), useEverything)));
  }
  expect(runs[1]).toEqual(runs[0]);
  expect((runs[0] as Recorded).results.length).toBe(13);
});

async function* useStateless(client: Client1 | Client2): AsyncIterable<unknown> {
  const two = client as Client2;
  yield client instanceof Client2 ? client.getNegotiatedProtocolVersion() : 'legacy';
  yield await two.listTools();
  yield await two.callTool({ name: 'read_issue', arguments: { text: 'ä "b"' } });
  yield await failureOf(two.callTool({ name: 'delete_issue', arguments: { text: 'x' } }));
  yield await failureOf(two.callTool({ name: 'missing', arguments: { text: 'x' } }));
}

test.each(['1.x', '2.x'])(
  'mcp: client %s and a stateless server exchange the same messages through the gateway',
  async (version) => {
    const runs: Recorded[] = [];
    for (const throughGateway of [false, true]) {
      const route = await routeTo(statelessOrigin, throughGateway);
      const isFirst = version === '1.x';
      const client = isFirst ? createClient1() : new Client2(INFO, { versionNegotiation: { mode: 'auto' } });
      const transport = new (isFirst ? Transport1 : Transport2)(route.url, requestInit(route));
      runs.push(await record(client, transport, useStateless));
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[0]!.results).toHaveLength(5);
    expect(runs[0]!.results[0]).toBe(version === '1.x' ? 'legacy' : '2026-07-28');
  },
);

test.each(['1.x', '2.x'])('mcp: client %s sees and calls only the tools that its policy allows', async (version) => {
  const route = await routeTo(statelessOrigin, true, { deny: ['delete_*'] });
  const isFirst = version === '1.x';
  const client = isFirst ? createClient1() : new Client2(INFO, { versionNegotiation: { mode: 'auto' } });
  const { results } = await record(
    client,
    new (isFirst ? Transport1 : Transport2)(route.url, requestInit(route)),
    useStateless,
  );
  const [, list, read, deleted] = results as [unknown, { tools: { name: string }[] }, unknown, { code?: number }];
  expect(list.tools.map(({ name }) => name)).toEqual(['read_issue']);
  expect(read).toMatchObject({ content: [{ text: 'read_issue ä "b"' }] });
  expect(deleted).toMatchObject({ code: -32602 });
  expect(gateway!.fixture.rejections).toEqual([`${SLUG} denied_tool`]);
});

test('mcp: a client 2.x that listens gets the notifications of the server', async () => {
  const route = await routeTo(statelessOrigin, true);
  const client = new Client2(INFO, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new Transport2(route.url, requestInit(route)));
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => void changes++);
  const subscription = await client.listen({ toolsListChanged: true });
  await waitForCondition(() => {
    mcpHandler.notify.toolsChanged();
    return changes > 0;
  }, 'a notification');
  await subscription.close();
  await client.close();
  await waitForCondition(() => gateway!.fixture.server.inflight === 0, 'the end of the stream');
});
