/** Mutated calls of tools through the whole data plane, in single bytes too: the server never gets a denied tool. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';

const ALLOWED = 'read';
const DENIED = 'delete';
/** What the server has received since the last call. */
const received: { readonly body: string; readonly name: string | undefined }[] = [];
let server: Server;
let gateway: ProxyFixture;

beforeAll(async () => {
  server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      received.push({ body: Buffer.concat(chunks).toString(), name: req.headers['mcp-name'] as string | undefined });
      res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":1,"result":{"content":[]}}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const mcp = { tools: { allow: [ALLOWED], deny: [] }, resources: null, prompts: null };
  const policy = { closed: false, calls: null, models: null, mcp };
  gateway = await ProxyFixture.start(
    createContext([createUpstream(origin, { usageFormat: 'mcp', policy })], { mcpSessionKey: 'key' }),
  );
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  server.close();
});

/** Sends the request head and the body, whole or chunk by chunk of one byte each; returns the status line and the rest. */
function send(body: string, headers: readonly string[], isChunked: boolean): Promise<string> {
  const bytes = Buffer.from(body);
  const head = [
    'POST /v1/proxy/openai/mcp HTTP/1.1',
    'host: gateway',
    `authorization: Bearer ${GATEWAY_TOKEN}`,
    'content-type: application/json',
    'connection: close',
    ...headers,
    isChunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`,
  ];
  const socket = connect(gateway.port, '127.0.0.1').setNoDelay(true);
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  if (isChunked) {
    for (const byte of bytes) {
      socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
    }
    socket.write('0\r\n\r\n');
  } else socket.write(bytes);
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

const escaped = (text: string) => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(1)}`;
const tool = fc.constantFrom(ALLOWED, DENIED, escaped(ALLOWED), escaped(DENIED), 'Delete', ' delete');
const key = fc.constantFrom('name', 'name', 'name', escaped('name'), 'Name');
const method = fc.constantFrom('tools/call', 'tools/call', 'tools\\/call', 'Tools/call');
const members = fc.array(fc.tuple(key, tool), { minLength: 1, maxLength: 2 });
const body = fc
  .tuple(method, members, fc.constantFrom('object', 'object', 'batch', 'twice', 'params first'))
  .map(([name, pairs, form]) => {
    const params = `{${pairs.map(([one, value]) => `"${one}":"${value}"`).join(',')},"arguments":{"name":"delete"}}`;
    const call = `"jsonrpc":"2.0","id":1,"method":"${name}"`;
    if (form === 'batch') return `[{${call},"params":${params}}]`;
    if (form === 'twice') return `{${call},"params":${params},"params":{"name":"${DENIED}"}}`;
    return form === 'object' ? `{${call},"params":${params}}` : `{"params":${params},${call}}`;
  });
const headers = fc.constantFrom<readonly string[]>(
  [],
  [],
  [`mcp-name: ${DENIED}`],
  [`mcp-name: ${ALLOWED}`],
  ['mcp-name: =?base64?ZGVsZXRl?='],
  ['mcp-method: tools/list'],
  [`mcp-name: ${ALLOWED}`, `mcp-name: ${DENIED}`],
  ['mcp-protocol-version: 2026-07-28'],
);

/** Every tool that some reader could find in the params. */
const namesIn = (text: string): string[] =>
  [...text.replace(/"arguments":\{[^}]*\}/g, '""').matchAll(/"((?:[^"\\]|\\.)*)":"((?:[^"\\]|\\.)*)"/g)]
    .map(([, name, value]) => [JSON.parse(`"${name}"`), JSON.parse(`"${value}"`)] as [string, string])
    .filter(([name]) => name.toLowerCase() === 'name')
    .map(([, value]) => value.trim().toLowerCase());

const PLAIN = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${ALLOWED}","arguments":{"name":"delete"}}}`;

test('mcp attack over the wire: no denied tool passes, and nothing allowed is rejected', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 1, arbitrary: fc.constant(PLAIN) }, { weight: 6, arbitrary: body }),
      headers,
      fc.boolean(),
      async (text, lines, isChunked) => {
        received.length = 0;
        const answer = await send(text, lines, isChunked);
        if (text === PLAIN && lines.length === 0) {
          expect(answer).toContain('"result":{"content":[]}');
          expect(received).toEqual([{ body: PLAIN, name: undefined }]);
        }
        expect(answer).toMatch(/^HTTP\/1\.1 [24]\d\d /);
        for (const { body: passed, name } of received) {
          expect(namesIn(passed)).toEqual([ALLOWED]);
          expect([undefined, ALLOWED]).toContain(name);
        }
      },
    ),
  );
}, 600_000);
