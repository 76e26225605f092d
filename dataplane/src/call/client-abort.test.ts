/**
 * Agents that disconnect before the response head pay for the input that they sent, because the provider has begun to
 * process it.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

/** Input price of gpt-5-mini, nano-dollars per token. */
const TOKEN_IN_NANOS = 250;
const CHAT = '/v1/chat/completions';

let provider: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  provider = await RawUpstream.start();
  gateway = await started('openai');
});
afterEach(async () => {
  await gateway.stop();
  provider.stop();
});

function started(usageFormat: 'openai' | 'anthropic', hardBudget = false): Promise<ProxyFixture> {
  const metering = new ProviderMetering(
    new CallCostCalculator(() => Date.parse('2026-11-20')),
    { appendDeferredUsage: () => {} },
    1e6,
  );
  const upstream = createUpstream(provider.origin, { usageFormat, priceProvider: usageFormat });
  const terms = createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget });
  return ProxyFixture.start(createContext([upstream], { agentLimits: terms }), {}, metering);
}

/** Sends `body` without its last `missing` bytes, and waits until the provider has the rest. */
async function send(path: string, body: string, missing = 0): Promise<{ agent: RawPeer; peer: RawPeer }> {
  const agent = await connectRaw(gateway.port);
  const sent = body.slice(0, body.length - missing);
  agent.send(
    `POST /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${sent}`,
  );
  const peer = await provider.connection(provider.connections.length);
  await peer.waitUntil(() => peer.received.length > sent.length && peer.text.endsWith(sent.slice(-20)));
  return { agent, peer };
}

/** The record after the agent has disconnected. */
async function left(agent: RawPeer) {
  agent.socket.destroy();
  await waitUntil(() => gateway.records.length === 1);
  return { record: gateway.records[0]!, settlement: gateway.settlements[0] };
}

const chat = (chars: number, model = 'gpt-5-mini'): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'word '.repeat(chars / 5) }] });

test.each([false, true])('books the input of a request that was sent completely (hard budget: %s)', async (hard) => {
  await gateway.stop();
  gateway = await started('openai', hard);
  const body = chat(40_000);
  const { agent } = await send(CHAT, body);
  const { record, settlement } = await left(agent);
  const tokens = Math.ceil(body.length / 4);
  expect(record).toMatchObject({
    status: 0,
    error: 'client_aborted',
    model: 'gpt-5-mini',
    usageSource: 'estimated',
    tokensInUncached: tokens,
    tokensOut: 0,
    costNanos: tokens * TOKEN_IN_NANOS,
  });
  expect(settlement).toMatchObject({
    tokens,
    costNanos: tokens * TOKEN_IN_NANOS,
    reservationNanos: gateway.admissions[0]!.reservationNanos,
  });
  expect(gateway.exceeded).toEqual([]);
});

test('books the input of a streamed body once its last byte was sent', async () => {
  const body = chat(200_000);
  await gateway.stop();
  gateway = await started('anthropic');
  const { agent } = await send('/v1/messages', body.replace('gpt-5-mini', 'claude-haiku-4-5'));
  expect((await left(agent)).record).toMatchObject({ model: 'claude-haiku-4-5', usageSource: 'estimated' });
  expect(gateway.settlements[0]!.costNanos).toBeGreaterThan(45_000_000);
});

test('books nothing for an incomplete request', async () => {
  await gateway.stop();
  gateway = await started('anthropic');
  const { agent } = await send('/v1/messages', chat(200_000, 'claude-haiku-4-5'), 10);
  expect((await left(agent)).record).toMatchObject({ costNanos: 0, tokensInUncached: 0 });
});

test.each([
  ['a call that generates nothing', '/v1/files'],
  ['tokens that are counted only', '/v1/responses/input_tokens'],
])('books nothing for %s', async (_what, path) => {
  const { agent } = await send(path, chat(4_000));
  expect((await left(agent)).record).toMatchObject({ costNanos: 0, usageSource: 'none' });
});

test('books nothing when the provider closes the connection or responds with an error', async () => {
  const { agent, peer } = await send(CHAT, chat(4_000));
  peer.socket.destroy();
  await agent.waitForText('502');
  await waitUntil(() => gateway.records.length === 1);
  const second = await send(CHAT, chat(4_000));
  second.peer.send('HTTP/1.1 500 X\r\nContent-Length: 5\r\n\r\nabcde');
  await second.agent.waitForText(' 500 ');
  await waitUntil(() => gateway.records.length === 2);
  expect(gateway.records.map(({ costNanos }) => costNanos)).toEqual([0, 0]);
});
