/** Sends the same request directly to the provider and through the proxy: both responses must have the same bytes. */
import { connect } from 'node:net';
import { OpenAiStandIn } from '@acg/stand-in-provider/openai';
import type { StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AnthropicStandIn } from '../stand-in-providers/anthropic.js';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { ResendStandIn } from '../stand-in-providers/resend.js';
import { VercelStandIn } from '../stand-in-providers/vercel.js';
import { InProcessGateway, type ProviderRoute } from './in-process-gateway.js';

const providers: Record<string, StandInProvider> = {};
let gateway: InProcessGateway;

beforeAll(async () => {
  providers.openai = await new OpenAiStandIn().start();
  providers.anthropic = await new AnthropicStandIn().start();
  providers.vercel = await new VercelStandIn().start();
  providers.resend = await new ResendStandIn().start();
  const slugs = ['openai', 'anthropic', 'vercel', 'resend'] as const;
  gateway = await InProcessGateway.start(
    slugs.map((slug) => ({
      slug,
      origin: providers[slug]!.origin,
      credentials: { apiKey: PROVIDER_CREDENTIALS[slug] },
    })),
  );
});
afterAll(async () => {
  await gateway.stop();
  for (const provider of Object.values(providers)) await provider.close();
});
beforeEach(() => {
  for (const provider of Object.values(providers)) provider.requests.length = 0;
});

interface RawResponse {
  readonly status: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** The message ended where its framing says. */
  readonly complete: boolean;
}

/** Sends the text over its own socket and reads until the response is complete or the other side closes. */
function sendRawRequest(
  { baseUrl, key }: ProviderRoute,
  line: string,
  headers: readonly string[],
  body: Buffer,
): Promise<RawResponse> {
  const url = new URL(baseUrl);
  const [method, target] = line.split(' ');
  const head = [
    `${method} ${url.pathname === '/' ? '' : url.pathname}${target} HTTP/1.1`,
    `host: ${url.host}`,
    `authorization: Bearer ${key}`,
    ...headers,
  ];
  if (body.length > 0) head.push(`content-length: ${body.length}`);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect(Number(url.port), url.hostname, () => {
      socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]));
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (parseRawResponse(received, method!).complete) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(parseRawResponse(received, method!)));
  });
}

function parseRawResponse(raw: Buffer, method: string): RawResponse {
  const headEnd = raw.indexOf('\r\n\r\n');
  if (headEnd === -1) return { status: '', headers: new Map(), body: raw, complete: false };
  const [status = '', ...lines] = raw.toString('latin1', 0, headEnd).split('\r\n');
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const rest = raw.subarray(headEnd + 4);
  if (method === 'HEAD') return { status, headers, body: rest, complete: true };
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = headers.get('content-length');
    return { status, headers, body: rest, complete: length !== undefined && rest.length === Number(length) };
  }
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf('\r\n', at);
    const size = lineEnd === -1 ? Number.NaN : Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (size === 0) return { status, headers, body: Buffer.concat(parts), complete: true };
    if (Number.isNaN(size)) return { status, headers, body: Buffer.concat(parts), complete: false };
    parts.push(rest.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

const direct = (slug: keyof typeof PROVIDER_CREDENTIALS & string): ProviderRoute => ({
  baseUrl: providers[slug]!.origin,
  key: PROVIDER_CREDENTIALS[slug] as string,
});
const chat = (more: object): Buffer =>
  Buffer.from(JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: 'ü\u0000"\\ ✓' }], ...more }));
const JSON_TYPE = 'content-type: application/json';
const message = (more: object): Buffer =>
  Buffer.from(JSON.stringify({ model: 'claude-haiku-4-5', max_tokens: 5, messages: [], ...more }));

const CASES = [
  ['openai', 'POST /v1/chat/completions', [JSON_TYPE], chat({})],
  ['openai', 'POST /v1/chat/completions', [JSON_TYPE], chat({ stream: true })],
  ['openai', 'POST /v1/chat/completions', [JSON_TYPE], chat({ stream: true, stream_options: { include_usage: true } })],
  ['openai', 'POST /v1/responses', [JSON_TYPE], chat({ stream: true })],
  ['openai', 'POST /v1/audio/speech', [JSON_TYPE], chat({})],
  ['openai', 'GET /v1/models?limit=2&after=%2F%zz&&x', [], Buffer.alloc(0)],
  ['openai', 'GET /v1//nothing%2Fhere/?', [], Buffer.alloc(0)],
  ['openai', 'POST /v1/chat/completions', [JSON_TYPE], chat({ model: 'no-such-model' })],
  ['anthropic', 'POST /v1/messages', [JSON_TYPE, 'anthropic-version: 2023-06-01'], message({})],
  ['anthropic', 'POST /v1/messages', [JSON_TYPE, 'anthropic-version: 2026-10-21'], message({ stream: true })],
  ['anthropic', 'GET /v1/messages/batches/msgbatch_one/results', ['anthropic-version: 2023-06-01'], Buffer.alloc(0)],
  ['vercel', 'GET /v3/deployments/dpl_one/events?follow=1', [], Buffer.alloc(0)],
  ['resend', 'POST /emails', [JSON_TYPE, 'user-agent: raw/1'], Buffer.from('{"to":"b@example.com"}')],
  ['resend', 'HEAD /emails', ['user-agent: raw/1'], Buffer.alloc(0)],
] as const;

const GATEWAY_HEADERS = new Set([
  'keep-alive',
  'server-timing',
  'x-gateway-request-id',
  'date',
  'connection',
  'uwebsockets',
  'set-cookie',
]);
const GATEWAY_HEADERS_UNLESS_PROVIDER_SENT = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

describe.each(CASES)('raw %s %s', (slug, line, headers, body) => {
  test('response and request have the same bytes', async () => {
    const provider = providers[slug]!;
    const straight = await sendRawRequest(direct(slug), line, headers, body);
    const proxied = await sendRawRequest(gateway.route(slug), line, headers, body);
    expect(proxied.status).toBe(straight.status);
    expect(proxied.body.equals(straight.body)).toBe(true);
    expect(proxied.complete).toBe(straight.complete);
    for (const [name, value] of straight.headers) {
      if (!GATEWAY_HEADERS.has(name)) expect([name, proxied.headers.get(name)]).toEqual([name, value]);
    }
    const added = [...proxied.headers.keys()].filter(
      (name) => !straight.headers.has(name) && !GATEWAY_HEADERS.has(name),
    );
    expect(added.filter((name) => !GATEWAY_HEADERS_UNLESS_PROVIDER_SENT.includes(name))).toEqual([]);
    expect(proxied.headers.get('set-cookie')).toBeUndefined();
    expect(proxied.headers.get('x-gateway-request-id')).toBeDefined();
    expect(proxied.headers.get('server-timing')).toMatch(/^gateway;dur=[\d.]+, upstream;dur=[\d.]+$/);
    const [sent, forwarded] = provider.requests;
    expect(forwarded!.target).toBe(sent!.target);
    expect(forwarded!.method).toBe(sent!.method);
    expect(forwarded!.body.equals(sent!.body)).toBe(true);
  });
});

describe('faults of the provider', () => {
  test.each([0, 1, 10, 700])('a body aborted after %i bytes never looks complete', async (cutAfterBytes) => {
    for (const more of [{}, { stream: true }]) {
      providers.openai!.failNext({ cutAfterBytes });
      const answer = await sendRawRequest(
        gateway.route('openai'),
        'POST /v1/chat/completions',
        [JSON_TYPE],
        chat(more),
      );
      expect(answer.complete).toBe(false);
    }
  });

  test('a connection reset before the response is 502', async () => {
    providers.openai!.failNext({ reset: true });
    const answer = await sendRawRequest(gateway.route('openai'), 'GET /v1/models', [], Buffer.alloc(0));
    expect(answer.status).toContain('502');
    expect(Object.keys(JSON.parse(answer.body.toString()) as object)).toEqual(
      expect.arrayContaining(['error', 'message']),
    );
  });

  test('a gzip body passes unchanged', async () => {
    providers.openai!.failNext({ gzip: true }, 2);
    const straight = await sendRawRequest(direct('openai'), 'GET /v1/models', [], Buffer.alloc(0));
    const proxied = await sendRawRequest(gateway.route('openai'), 'GET /v1/models', [], Buffer.alloc(0));
    expect(proxied.headers.get('content-encoding')).toBe('gzip');
    expect(proxied.body.equals(straight.body)).toBe(true);
  });

  test.each([1, 7, 64, 100_000])(
    'an echoed credential comes back masked, in chunks of %i bytes',
    async (echoInChunks) => {
      providers.openai!.failNext({ echoInChunks }, 2);
      const straight = await sendRawRequest(direct('openai'), 'GET /v1/models', [], Buffer.alloc(0));
      expect(straight.body.toString()).toContain(PROVIDER_CREDENTIALS.openai);
      const proxied = await sendRawRequest(gateway.route('openai'), 'GET /v1/models', [], Buffer.alloc(0));
      const stars = '*'.repeat(PROVIDER_CREDENTIALS.openai.length);
      expect(proxied.body.toString()).toContain(`"authorization":"Bearer ${stars}"`);
      expect(proxied.headers.get('x-echo-authorization')).toBe(`Bearer ${stars}`);
      expect([...proxied.headers.values()].join() + proxied.body.toString()).not.toContain(
        PROVIDER_CREDENTIALS.openai.slice(0, 12),
      );
    },
  );
});
