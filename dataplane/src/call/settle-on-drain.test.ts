/**
 * A drain ends when every call is booked, including responses that are still being decoded. The process exits right
 * after it.
 */
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const BODY = '{"model":"gpt-5-mini","input":"hi"}';
const REQUEST =
  `POST /v1/proxy/openai/v1/responses HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
  `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const USAGE = { input_tokens: 1_000_000, output_tokens: 1_000_000, total_tokens: 2_000_000 };
const ANSWER = gzipSync(JSON.stringify({ object: 'response', model: 'gpt-5-mini', usage: USAGE }));

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  const metering = new ProviderMetering(new CallCostCalculator(Date.now), { appendDeferredUsage: () => {} }, 1e6);
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin, OPENAI)]), {}, metering);
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const OPENAI = { usageFormat: 'openai', priceProvider: 'openai' } as const;

/** The agent has the response except for its end. */
async function begun() {
  const agent = await connectRaw(gateway.port);
  agent.send(REQUEST);
  const provider = await upstream.connection();
  await provider.waitForText(BODY);
  provider.send('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n');
  provider.send(`Content-Length: ${ANSWER.length + 1}\r\n\r\n`);
  provider.socket.write(ANSWER);
  await agent.waitForText('\r\n\r\n');
  return agent;
}

test('drain: books a compressed response that the drain aborts', async () => {
  await begun();
  await gateway.server.drain(1);
  expect(gateway.records).toMatchObject([{ error: 'shutdown', tokensOut: 1_000_000 }]);
  expect(gateway.settlements).toHaveLength(1);
});

test('drain: books a compressed response whose agent disconnects', async () => {
  const agent = await begun();
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  await gateway.server.drain(1_000);
  expect(gateway.records).toMatchObject([{ error: 'client_aborted', tokensOut: 1_000_000 }]);
});
