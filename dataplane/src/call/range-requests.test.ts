/** Responses whose usage is booked when they are fetched are fetched whole, without ranges. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, RawUpstream } from './testing/raw-peer-fixture.js';

let provider: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  provider = await RawUpstream.start();
});
afterEach(async () => {
  await gateway.stop();
  provider.stop();
});

test.each([
  ['openai', 'GET', '/v1/files/file-1/content', false],
  ['openai', 'GET', '/v1//Files/file-1/content/', false],
  ['openai', 'GET', '/openai/v1/files/file-1/content', false],
  ['openai', 'GET', '/v1/responses/resp_1', false],
  ['anthropic', 'GET', '/v1/messages/batches/msgbatch_1/results', false],
  ['openai', 'GET', '/v1/videos/video_1/content', true],
  ['none', 'GET', '/v1/files/file-1/content', true],
  ['s3', 'GET', '/bucket/files/1/content', true],
] as const)('ranges: %s %s %s: forwards the range header: %s', async (usageFormat, method, path, passes) => {
  const metering = new ProviderMetering(new CallCostCalculator(Date.now), { appendDeferredUsage: () => {} }, 1e6);
  gateway = await ProxyFixture.start(createContext([createUpstream(provider.origin, { usageFormat })]), {}, metering);
  const agent = await connectRaw(gateway.port);
  agent.send(
    `${method} /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n` +
      'RANGE: bytes=0-99\r\nIf-Range: "a"\r\nX-Mine: yes\r\n\r\n',
  );
  const peer = await provider.connection();
  await peer.waitForText('\r\n\r\n');
  const sent = peer.text.toLowerCase();
  expect(sent).toContain('x-mine: yes');
  expect([sent.includes('\r\nrange: bytes=0-99'), sent.includes('\r\nif-range:')]).toEqual([passes, passes]);
  agent.socket.destroy();
});
