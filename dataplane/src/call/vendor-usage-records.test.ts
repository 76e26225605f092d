/** Calls of vendors that name their model in the path, through the proxy: the record, and the bytes for the agent. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ILineUsage } from '@acg/proto/messages';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UsageFormat } from '../context/agent-context.js';
import { chatBodyOf, converseStream, geminiBody } from '../metering/testing/vendor-responses-fixture.js';
import { Metrics } from '../ops/metrics.js';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createTestExchange } from './testing/exchange-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';

const AWS_STREAM = 'application/vnd.amazon.eventstream';
let provider: Server;
let gateway: ProxyFixture;
let deferred: ILineUsage[];
let answer: { readonly status?: number; readonly type: string; readonly body: Buffer };

beforeEach(async () => {
  deferred = [];
  provider = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(answer.status ?? 200, { 'content-type': answer.type }).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await gateway.stop();
  provider.closeAllConnections();
  provider.close();
});

async function call(usageFormat: UsageFormat, priceProvider: string, at: string, path: string): Promise<Buffer> {
  const upstream = createUpstream(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`, {
    usageFormat,
    priceProvider,
    modelCalls: [{ call: 'POST /**', at }],
  });
  const prices = new CallCostCalculator(() => Date.parse('2026-11-20'));
  const metering = new ProviderMetering(prices, { appendDeferredUsage: (lines) => void deferred.push(lines) }, 1e6);
  gateway = await ProxyFixture.start(createContext([upstream]), {}, metering);
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/proxy/openai${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, 'content-type': 'application/json' },
    body: '{"model":"another"}',
  });
  return Buffer.from(await response.arrayBuffer());
}

const NOVA = '/model/us.amazon.nova-pro-v1%3A0/converse-stream';

test('Bedrock: the path’s model decides the price', async () => {
  answer = { type: AWS_STREAM, body: converseStream(['Hi'], { inputTokens: 1_000, outputTokens: 100 }) };
  expect(await call('bedrock', 'aws', 'path:model', NOVA)).toEqual(answer.body);
  expect(gateway.records).toMatchObject([
    {
      model: 'us.amazon.nova-pro-v1:0',
      streamed: true,
      tokensInUncached: 1_000,
      tokensOut: 100,
      costNanos: 1_000 * 800 + 100 * 3_200,
      usageSource: 'reported',
      priceSource: 'library',
    },
  ]);
});

test('Gemini: the response’s model decides the price, the path’s that of a call that failed', async () => {
  const usage = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };
  answer = { type: 'application/json', body: geminiBody('Hi', usage, 'gemini-3.8-flash') };
  const path = '/v1beta/models/gemini-flash-latest:generateContent';
  await call('gemini', 'google', 'path_before_colon:models', path);
  expect(gateway.records).toMatchObject([{ model: 'gemini-3.8-flash', costNanos: 100 * 750 + 10 * 3_750 }]);
  await gateway.stop();
  answer = { status: 400, type: 'application/json', body: Buffer.from('{"error":{"status":"INVALID_ARGUMENT"}}') };
  await call('gemini', 'google', 'path_before_colon:models', path);
  expect(gateway.records).toMatchObject([{ model: 'gemini-flash-latest', costNanos: 0, status: 400 }]);
});

test('xAI: the request of a deferred completion books its estimate by the id, of which the fetch books the rest', async () => {
  const id = 'f15c114e-f47d-40ca-8d5c-8c23d656eeb6';
  answer = { type: 'application/json', body: Buffer.from(`{"request_id":"${id}"}`) };
  await call('openai', 'x-ai', 'json', '/v1/chat/completions');
  expect(deferred).toMatchObject([
    { sourceId: id, lines: [], seen: [{ id: '', model: 'another', costNanos: expect.any(Number) }] },
  ]);
  expect(deferred[0]!.seen![0]!.costNanos).toBeGreaterThan(0);
  expect(gateway.records).toMatchObject([{ tokensInUncached: 0, tokensOut: 0, usageSource: 'estimated' }]);
});

test('keeps the cost that the provider states beside the price', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cost: 0.000_05 };
  answer = { type: 'application/json', body: chatBodyOf('openai/gpt-5-mini', usage) };
  await call('openai', 'openrouter', 'json', '/api/v1/chat/completions');
  expect(gateway.records).toMatchObject([{ costNanos: 100 * 250 + 10 * 2_000, statedCostNanos: 50_000 }]);
});

test('a malformed event stream reaches the agent unchanged; its usage is estimated and it is counted', async () => {
  const body = converseStream(Array(50).fill('word '), { inputTokens: 1_000, outputTokens: 100 });
  body[body.length / 2]! ^= 1;
  answer = { type: AWS_STREAM, body };
  expect(await call('bedrock', 'aws', 'path:model', NOVA)).toEqual(body);
  expect(gateway.records).toMatchObject([{ error: '', status: 200, usageSource: 'estimated', streamed: true }]);
  expect(gateway.records[0]!.costNanos).toBeGreaterThan(0);
});

test('metrics: counts malformed streams', async () => {
  gateway = await ProxyFixture.start(createContext([]));
  const metrics = new Metrics('1');
  const upstream = createUpstream('http://127.0.0.1:1');
  const exchange = createTestExchange({ routed: { context: createContext([upstream]), upstream } });
  exchange.upstreamCall.status = 200;
  const settle = (isMalformed: boolean): void =>
    metrics.onSettled(exchange, { source: 'estimated', isMalformed } as never, { costNanos: 0, source: 'none' });
  settle(false);
  settle(true);
  expect(await metrics.registry.metrics()).toContain('\ngateway_malformed_streams_total 1\n');
});
