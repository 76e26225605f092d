/** Call policies, over the wire: a rejected call is neither admitted nor forwarded. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Upstream } from '../context/agent-context.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const KIB = 1024;
const MODEL_CALLS = [
  { call: '* /v1/chat/completions', at: 'json' },
  { call: '* /v1/audio/transcriptions', at: 'form' },
  { call: '* /v1/messages/batches', at: 'batch' },
  { call: '* /deployments/*/chat', at: 'path:deployments' },
  { call: '* /v1/files', at: 'free' },
];
const MINI_ONLY = { closed: false, calls: null, models: { allow: ['gpt-5-mini*'], deny: ['*-preview'] } };

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  const options = { bufferedBodyBytesMax: 4 * KIB, editedBodyBytesMax: 32 * KIB, editedBodiesBytesMax: 40 * KIB };
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), options);
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

function allow(changes: Partial<Upstream>): void {
  const context = createContext([createUpstream(upstream.origin, { modelCalls: MODEL_CALLS, ...changes })]);
  gateway.lookup = { context, rejection: null };
}

const head = (line: string, headers = ''): string => {
  const [method, path] = line.split(' ');
  return `${method} /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n${headers}\r\n`;
};

/** Status and body of the response; the provider answers 200 to every request. */
async function call(
  line: string,
  body: string | null = null,
  headers = '',
): Promise<[number, Record<string, unknown>]> {
  const agent = await connectRaw(gateway.port);
  const length = body === null ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
  const seen = upstream.connections.length;
  agent.send(head(line, length + headers) + (body ?? ''));
  await waitUntil(() => agent.text.includes('\r\n\r\n') || upstream.connections.length > seen);
  if (upstream.connections.length > seen) {
    const provider = await upstream.connection(seen);
    await provider.waitForText('\r\n\r\n');
    provider.send('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}');
  }
  await agent.waitUntil(() => /\r\n\r\n\{.*\}$/s.test(agent.text));
  agent.socket.destroy();
  const status = Number(agent.text.slice(9, 12));
  return [status, JSON.parse(agent.text.slice(agent.text.indexOf('\r\n\r\n') + 4)) as Record<string, unknown>];
}

const JSON_TYPE = 'Content-Type: application/json\r\n';
const chat = (body: string, headers = JSON_TYPE) => call('POST /v1/chat/completions', body, headers);

function nothingHappened(): void {
  expect([gateway.admissions.length, gateway.records.length, upstream.connections.length]).toEqual([0, 0, 0]);
}

test('policy: rejects a sensitive call with 403, however its path is written', async () => {
  allow({ sensitiveCalls: [{ call: '* /api-keys/**', query: [], headers: [], harmlessValues: [] }] });
  for (const path of ['/api-keys', '/API-keys/7', '/%61pi-keys', '//api-keys/', '/api%2Dkeys;x', '/%2561pi-keys']) {
    const [status, body] = await call(`POST ${path}`, '{}');
    expect([path, status, body.denied]).toEqual([path, 403, 'sensitive_path']);
    expect(body.error).toBe(body.message);
  }
  expect(gateway.rejections).toContain('openai sensitive_path');
  nothingHappened();
  expect((await call('POST /emails', '{}'))[0]).toBe(200);
});

test('policy: rejects a call that a server may take for a sensitive one, for providers with sensitive calls', async () => {
  const users = { call: 'DELETE /users/*', query: [], headers: [], harmlessValues: [] };
  allow({ sensitiveCalls: [users] });
  const refused = [403, expect.objectContaining({ denied: 'sensitive_path' })];
  for (const header of [
    'X-HTTP-Method-Override: DELETE',
    'x-http-method: DELETE',
    'X-Method-Override: DELETE',
    'X-Original-URL: /users/1',
    'X-Rewrite-URL: /users/1',
  ]) {
    expect(await call('POST /users/1', '{}', `${header}\r\n`)).toEqual(refused);
  }
  for (const query of [
    '_method=DELETE',
    'a=1&%5fMethod=delete',
    'a=1;_method=delete',
    'X-HTTP-Method-Override=DELETE',
  ]) {
    expect(await call(`POST /users/1?${query}`, '{}')).toEqual(refused);
  }
  expect((await call('POST /users/1?method=DELETE', '{}', 'x-http-version: 1\r\n'))[0]).toBe(200);
  allow({ sensitiveCalls: [] });
  expect((await call('POST /users/1?_method=DELETE', '{}', 'x-http-method-override: DELETE\r\n'))[0]).toBe(200);
});

test('policy: rejects calls to a closed provider and calls that no pattern allows', async () => {
  allow({ policy: { closed: true, calls: null, models: null } });
  expect(await call('GET /v1/models')).toMatchObject([403, { denied: 'call', value: 'GET /v1/models' }]);
  allow({ policy: { closed: false, calls: ['GET /v1/models/**'], models: null } });
  for (const line of ['POST /v1/models', 'GET /v1/files', 'GET /v1%2Fmodels', 'GET /V1/models', 'GET /v1//models']) {
    expect(await call(line)).toMatchObject([403, { denied: 'call', value: line }]);
  }
  expect(await call('GET /v1/models', null, 'X-HTTP-Method-Override: DELETE\r\n')).toMatchObject([403, {}]);
  nothingHappened();
  expect((await call('GET /v1/models'))[0]).toBe(200);
  expect((await call('GET /v1/models/gpt%2D5'))[0]).toBe(200);
});

test('policy: checks the model of a JSON body', async () => {
  allow({ policy: MINI_ONLY });
  expect(await chat('{"model":"gpt-5"}')).toMatchObject([403, { denied: 'model', value: 'gpt-5' }]);
  expect(await chat('{"model":"gpt-5-mini-preview"}')).toMatchObject([403, { denied: 'model' }]);
  for (const body of ['{}', '{"model":7}', '{"model":"gpt-5-mini","model":"gpt-5"}', '{"Model":"gpt-5","model":"x"}']) {
    expect(await chat(body)).toMatchObject([403, { denied: 'model', value: null }]);
  }
  expect((await chat('model=gpt-5-mini'))[0]).toBe(400);
  expect((await chat(''))[0]).toBe(400);
  expect((await chat('{"model":"gpt-5-mini"}', `${JSON_TYPE}Content-Encoding: gzip\r\n`))[0]).toBe(400);
  expect((await chat('{"model":"gpt-5-mini"}', 'Content-Type: text/plain\r\n'))[0]).toBe(400);
  nothingHappened();
  expect((await chat('{"model":"GPT-5-mini-2025"}'))[0]).toBe(200);
  const provider = await upstream.connection(0);
  expect(provider.text).toContain('\r\n\r\n{"model":"GPT-5-mini-2025"}');
});

test('policy: a preset, which can replace the model, passes only where the policy names presets', async () => {
  allow({ policy: MINI_ONLY });
  const presets = [
    ['{"model":"gpt-5-mini@preset/x"}', 'gpt-5-mini@preset/x'],
    ['{"model":"gpt-5-mini","preset":"x"}', '@preset/x'],
    ['{"model":"gpt-5-mini","fallbacks":"default"}', '@preset/default'],
    ['{"model":"gpt-5-mini","fallbacks":[{"model":"gpt-5"}]}', 'gpt-5'],
  ] as const;
  for (const [body, value] of presets) expect(await chat(body)).toMatchObject([403, { denied: 'model', value }]);
  for (const models of [
    { allow: ['*'], deny: [] },
    { allow: null, deny: ['gpt-4*'] },
  ]) {
    allow({ policy: { closed: false, calls: null, models } });
    for (const [body, value] of presets.slice(0, 3))
      expect(await chat(body)).toMatchObject([403, { denied: 'model', value }]);
  }
  nothingHappened();
  allow({ policy: { closed: false, calls: null, models: { allow: ['gpt-5*', '*@preset/x'], deny: [] } } });
  for (const [body] of presets.slice(0, 2)) expect((await chat(body))[0]).toBe(200);
  expect(await chat(presets[2][0])).toMatchObject([403, { denied: 'model' }]);
});

test('policy: checks models of forms, batches and paths; rejects unknown calls, allows calls without a model', async () => {
  allow({ policy: MINI_ONLY });
  const form = (model: string) => `--b\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}\r\n--b--\r\n`;
  const type = 'Content-Type: multipart/form-data; boundary=b\r\n';
  const batch = (...models: string[]) =>
    JSON.stringify({ requests: models.map((model, i) => ({ custom_id: `${i}`, params: { model } })) });
  const denied = { denied: 'model', value: 'gpt-5' };
  expect(await call('POST /v1/audio/transcriptions', form('gpt-5'), type)).toMatchObject([403, denied]);
  expect(await call('POST /v1/messages/batches', batch('gpt-5-mini', 'gpt-5'), JSON_TYPE)).toMatchObject([403, denied]);
  expect(await call('POST /deployments/gpt-5/chat', '{}', JSON_TYPE)).toMatchObject([403, denied]);
  for (const path of [
    '/v1/batches',
    '/v1/threads/x/runs',
    '/v1/chat/completions/',
    '/v1//chat/completions',
    '/v1/files/',
  ]) {
    expect(await call(`POST ${path}`, '{"model":"gpt-5-mini"}', JSON_TYPE)).toMatchObject([403, { denied: 'call' }]);
  }
  nothingHappened();
  expect((await call('POST /v1/audio/transcriptions', form('gpt-5-mini'), type))[0]).toBe(200);
  expect((await call('POST /v1/messages/batches', batch('gpt-5-mini'), JSON_TYPE))[0]).toBe(200);
  expect((await call('POST /deployments/gpt-5-mini/chat', '{}', JSON_TYPE))[0]).toBe(200);
  expect((await call('POST /v1/files', 'anything'))[0]).toBe(200);
  expect((await call('DELETE /v1/models/gpt-5'))[0]).toBe(200);
});

const bodyOf = (bytes: number): string => `{"model":"gpt-5-mini","x":"${'x'.repeat(bytes - 28)}"}`;

test('policy: reads a body that must be read whole or rejects it: 413 too large, 503 no memory', async () => {
  allow({ policy: MINI_ONLY });
  expect((await chat(bodyOf(20 * KIB)))[0]).toBe(200);
  expect((await upstream.connection(0)).text).toContain(bodyOf(20 * KIB));
  expect((await chat(bodyOf(32 * KIB + 1)))[0]).toBe(413);
  const chunked = await connectRaw(gateway.port);
  chunked.send(head('POST /v1/chat/completions', `${JSON_TYPE}Transfer-Encoding: chunked\r\n`));
  chunked.send(`${(33 * KIB).toString(16)}\r\n${bodyOf(33 * KIB)}\r\n`);
  await chunked.waitForText('HTTP/1.1 413 ');
  // Another body holds most of the memory.
  const holder = await connectRaw(gateway.port);
  const looks = gateway.limitPeeks.length;
  holder.send(head('POST /v1/chat/completions', `${JSON_TYPE}Content-Length: ${30 * KIB}\r\n`));
  holder.send(bodyOf(30 * KIB).slice(0, 29 * KIB));
  await waitUntil(() => gateway.limitPeeks.length > looks);
  const late = await connectRaw(gateway.port);
  late.send(head('POST /v1/chat/completions', `${JSON_TYPE}Content-Length: ${20 * KIB}\r\n`));
  late.send(bodyOf(20 * KIB).slice(0, 19 * KIB));
  await late.waitForText('HTTP/1.1 503 ');
  holder.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  expect((await chat(bodyOf(20 * KIB)))[0]).toBe(200);
});

test('policy: rejects a body whose declared length is too long before it is sent', async () => {
  allow({ policy: MINI_ONLY });
  const agent = await connectRaw(gateway.port);
  agent.send(head('POST /v1/chat/completions', `${JSON_TYPE}Content-Length: ${32 * KIB + 1}\r\n`));
  await agent.waitForText('HTTP/1.1 413 ');
  nothingHappened();
});

test('policy: reads a body that arrives before its key is resolved', async () => {
  allow({ policy: MINI_ONLY });
  gateway.lookupLater = true;
  expect(await chat('{"model":"gpt-5"}')).toMatchObject([403, { denied: 'model', value: 'gpt-5' }]);
  nothingHappened();
  expect((await chat('{"model":"gpt-5-mini"}'))[0]).toBe(200);
});

test('policy: reads no body without a rule for models', async () => {
  allow({ policy: { closed: false, calls: ['POST /**'], models: null } });
  expect((await chat('not json', 'Content-Type: text/plain\r\n'))[0]).toBe(200);
});
