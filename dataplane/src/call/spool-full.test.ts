/** Fetches of results with more deferred usage than the spool takes. */
import type { ILineUsage } from '@acg/proto/messages';
import { expect, test } from 'vitest';
import { CallCostCalculator } from '../pricing/call-cost-calculator.js';
import { ProviderMetering } from './provider-metering.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const FORMAT = { usageFormat: 'openai', priceProvider: 'openai' } as const;
const RESULT = '/v1/proxy/openai/v1/files/file-abc/content';

const line = (n: number): string => {
  const body = { object: 'chat.completion', model: 'gpt-5-mini', usage: { prompt_tokens: 1, completion_tokens: n } };
  return `${JSON.stringify({ id: `batch_req_${n}`, response: { status_code: 200, body } })}\n`;
};

test('spool: a full spool aborts fetches of results, books the lines so far, and aborts no other call', async () => {
  const upstream = await RawUpstream.start();
  const groups: ILineUsage[] = [];
  const sink = { appendDeferredUsage: (lines: ILineUsage) => void groups.push(lines) };
  const metering = new ProviderMetering(new CallCostCalculator(Date.now), sink, 1e6);
  const gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin, FORMAT)]), {}, metering);
  const begun = async (path: string, body: string) => {
    const agent = await connectRaw(gateway.port);
    agent.send(`GET ${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n\r\n`);
    const provider = await upstream.connection(upstream.connections.length);
    await provider.waitForText('\r\n\r\n');
    provider.send(`HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 9999\r\n\r\n${body}`);
    await agent.waitForText(body);
    return agent;
  };
  const fetched = await begun(RESULT, line(1) + line(2));
  const other = await begun('/v1/proxy/openai/v1/files', 'x');
  gateway.server.abortCallsWhenSpoolFull();
  expect(gateway.server.inflight).toBe(2);
  gateway.spoolFullFor.add(createContext([]).orgId);
  gateway.server.abortCallsWhenSpoolFull();
  await fetched.waitForClose();
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'spool_full', status: 200, lined: true, circuitOutcome: 0 });
  expect(groups.flatMap(({ lines }) => lines!.map(({ id }) => id))).toEqual(['batch_req_1', 'batch_req_2']);
  expect(gateway.server.inflight).toBe(1);
  gateway.spoolFullFor.clear();
  const again = await begun(RESULT, line(3));
  gateway.spoolFull = true; // For all, as when the disk takes nothing: lines would wait in memory.
  gateway.server.abortCallsWhenSpoolFull();
  await again.waitForClose();
  await waitUntil(() => gateway.records.length === 2);
  other.socket.destroy();
  await gateway.stop();
  upstream.stop();
});
