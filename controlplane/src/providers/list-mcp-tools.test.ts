import { describe, expect, it } from 'vitest';
import { listMcpTools, McpListFailure, type McpResponse, type SendToMcpServer } from './list-mcp-tools.js';
import { createSecretMask } from './mask-echoed-secrets.js';

interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: messages are asserted field by field
  readonly message: any;
}

async function* chunksOf(text: string, bytes: number): AsyncGenerator<Buffer> {
  const whole = Buffer.from(text);
  for (let at = 0; at < whole.length; at += bytes) yield whole.subarray(at, at + bytes);
}

const respond = (status: number, body: unknown, more: Partial<McpResponse> = {}): McpResponse => ({
  status,
  contentType: 'application/json',
  sessionId: null,
  body: chunksOf(typeof body === 'string' ? body : JSON.stringify(body), 4_096),
  ...more,
});
const resultOf = ({ message }: Sent, result: unknown) => respond(200, { jsonrpc: '2.0', id: message.id, result });

/** A server that `answer` describes, and what it has received. */
function createServer(answer: (sent: Sent) => McpResponse) {
  const received: Sent[] = [];
  const send: SendToMcpServer = async (method, headers, body) => {
    const sent = { method, headers, message: body === '' ? null : JSON.parse(body) };
    received.push(sent);
    return answer(sent);
  };
  return { send, received };
}

const SECRET = 'server/token+0123';
const mask = createSecretMask({ header: { name: 'authorization', prefix: 'Bearer ', secret: SECRET } });
const names = async (send: SendToMcpServer) => (await listMcpTools(send, mask)).tools.map(({ name }) => name);
const failureOf = (send: SendToMcpServer): Promise<McpListFailure> =>
  listMcpTools(send, mask).then(
    () => expect.fail('listed'),
    (error) => error,
  );

describe('tools of an MCP server', () => {
  it.each([SECRET, encodeURIComponent(SECRET)])('masks the credential that the server quotes: %s', async (echo) => {
    const hidden = '*'.repeat(echo.length);
    const description = `${'d'.repeat(990)}${echo}`;
    const { send } = createServer((sent) =>
      resultOf(sent, { tools: [{ name: `read_${echo}`, title: `Bearer ${echo}`, description }] }),
    );
    expect((await listMcpTools(send, mask)).tools).toMatchObject([
      { name: `read_${hidden}`, title: `Bearer ${hidden}`, description: `${'d'.repeat(990)}${hidden}`.slice(0, 1_000) },
    ]);
    const failing = createServer(({ message }) =>
      respond(400, { jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: `invalid token ${echo}` } }),
    );
    expect((await failureOf(failing.send)).message).toContain(`invalid token ${hidden}`);
  });

  it('masks the forms of every kind of injection', () => {
    const encoded = Buffer.from('robot:pass-word-1').toString('base64');
    const maskAll = createSecretMask({
      basic: { username: 'robot', password: 'pass-word-1' },
      secrets: ['second-secret'],
    });
    expect(maskAll(`robot ${encoded} pass-word-1 second-secret`)).toBe(
      `robot ${'*'.repeat(encoded.length)} *********** *************`,
    );
    expect(createSecretMask({ query: { name: 'key', secret: 'query-secret' } })('?key=query-secret')).toBe(
      '?key=************',
    );
    expect(createSecretMask({ none: {} })('text')).toBe('text');
  });

  it('asks a server of 2026-07-28 once, without a session', async () => {
    const { send, received } = createServer((sent) =>
      resultOf(sent, {
        tools: [
          { name: 'read', title: 'Read', annotations: { readOnlyHint: true } },
          { name: 'delete', description: 'd'.repeat(5_000), annotations: { destructiveHint: true, readOnlyHint: 'x' } },
          { name: 'n'.repeat(300) },
          { title: 'nameless' },
          null,
        ],
      }),
    );
    const list = await listMcpTools(send, mask);
    expect(list).toEqual({
      truncated: false,
      tools: [
        { name: 'read', title: 'Read', description: null, readOnly: true, destructive: null },
        { name: 'delete', title: null, description: 'd'.repeat(1_000), readOnly: null, destructive: true },
      ],
    });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' },
      message: { params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } },
    });
  });

  it('opens a session at an earlier server, follows its pages, and ends the session', async () => {
    const { send, received } = createServer((sent) => {
      const { method, params, id } = sent.message ?? {};
      if (sent.method === 'DELETE') return respond(200, '');
      if (method === 'initialize')
        return { ...resultOf(sent, { protocolVersion: '2025-06-18' }), sessionId: 'session-1' };
      if (sent.headers['mcp-session-id'] !== 'session-1')
        return respond(400, { jsonrpc: '2.0', error: { code: -32000, message: 'No session' }, id: null });
      if (id === undefined) return respond(202, '');
      return resultOf(
        sent,
        params.cursor === 'two' ? { tools: [{ name: 'b' }] } : { tools: [{ name: 'a' }], nextCursor: 'two' },
      );
    });
    expect(await names(send)).toEqual(['a', 'b']);
    const last = received.slice(2);
    expect(last.map(({ method, message }) => message?.method ?? method)).toEqual([
      'notifications/initialized',
      'tools/list',
      'tools/list',
      'DELETE',
    ]);
    for (const { headers } of last)
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-06-18' });
  });

  it('reads an answer from a stream that stays open, in chunks of one byte', async () => {
    const { send } = createServer(({ message: { id } }) => {
      async function* body(): AsyncGenerator<Buffer> {
        const notification = `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message' })}\n\n`;
        const answer = `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [{ name: 'ä' }] } })}\n\n`;
        yield* chunksOf(`${notification}${answer}`, 1);
        await new Promise(() => {});
      }
      return respond(200, '', { contentType: 'text/event-stream; charset=utf-8', body: body() });
    });
    expect(await names(send)).toEqual(['ä']);
  });

  it('does not try another version where the credential is rejected', async () => {
    const { send, received } = createServer(() => respond(401, '{}'));
    const failure = await failureOf(send);
    expect(failure).toBeInstanceOf(McpListFailure);
    expect(failure.message).toContain('rejects the account’s credential (HTTP 401)');
    expect(received).toHaveLength(1);
  });

  it.each([
    [
      'too many bytes',
      (sent: Sent) => resultOf(sent, { tools: [{ name: 'x', description: 'y'.repeat(3_000_000) }] }),
      '2 MiB',
    ],
    ['an answer to another request', () => respond(200, { jsonrpc: '2.0', id: 99, result: {} }), 'without a response'],
    ['no JSON', () => respond(200, '<html>'), 'without a response'],
    ['no list', (sent: Sent) => resultOf(sent, { tools: {} }), 'cannot be read'],
    ['a redirect', () => respond(302, ''), 'HTTP 302'],
    [
      'an error with line breaks',
      (sent: Sent) =>
        respond(200, { jsonrpc: '2.0', id: sent.message.id, error: { code: 1, message: 'a\n\u001b[31mb' } }),
      'The server answered: a [31mb',
    ],
  ])('reports %s', async (_what, answer, text) => {
    const failure = await failureOf(createServer(answer as (sent: Sent) => McpResponse).send);
    expect(failure).toBeInstanceOf(McpListFailure);
    expect(failure.message).toContain(text);
  });

  it('stops at a server that always has another page', async () => {
    let page = 0;
    const { send, received } = createServer((sent) =>
      resultOf(sent, { tools: [{ name: `t${page++}` }], nextCursor: 'x' }),
    );
    const list = await listMcpTools(send, mask);
    expect(list.truncated).toBe(true);
    expect(received).toHaveLength(20);
    const many = { tools: Array.from({ length: 900 }, (_, i) => ({ name: `t${i}` })), nextCursor: 'x' };
    const long = await listMcpTools(createServer((sent) => resultOf(sent, many)).send, mask);
    expect([long.tools.length, long.truncated]).toEqual([500, true]);
  });
});
