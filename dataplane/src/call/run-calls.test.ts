/** Calls about runs, which the control plane decides (docs/contract.md#runs). */
import { executionAsyncResource } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { Exchange } from './exchange.js';
import { createContext, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, waitUntil } from './testing/raw-peer-fixture.js';

const HEAD = `Host: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n`;
const END = `DELETE /v1/runs/1 HTTP/1.1\r\n${HEAD}\r\n`;
const START = `POST /v1/runs HTTP/1.1\r\n${HEAD}Content-Length: 9\r\n\r\n`;
/** An eighth of 64 slots is for calls about runs, and all but an eighth of these for one organization. */
const INFLIGHT_MAX = 64;
const PER_ORG = 7;

test('runs: an organization does not take all slots with calls that wait, and each slot is free again', async () => {
  const pending: (() => void)[] = [];
  const callRuns = () =>
    new Promise<{ status: number; body: string }>((resolve) => {
      pending.push(() => resolve({ status: 200, body: '{}' }));
    });
  const gateway = await ProxyFixture.start(createContext([]), { inflightMax: INFLIGHT_MAX }, null, {}, { callRuns });
  const send = async (request: string) => {
    const agent = await connectRaw(gateway.port);
    agent.send(request);
    return agent;
  };
  const sendAll = (request: string, count: number) => Promise.all(Array.from({ length: count }, () => send(request)));
  const ends = await sendAll(END, PER_ORG - 2);
  const [gone, slow] = await sendAll(START, 2);
  await waitUntil(() => pending.length === ends.length && gateway.server.inflight === PER_ORG);
  await (await send(END)).waitForText('"reason":"org_inflight"');
  gateway.lookup = { context: createContext([], { orgId: 'org-2' }), rejection: null };
  ends.push(await send(END));
  await waitUntil(() => pending.length === ends.length);

  gone!.socket.destroy(); // in the middle of its body
  for (const respond of pending.splice(0)) respond();
  for (const agent of ends) await agent.waitForText('200 OK');
  slow!.send('123456789');
  await waitUntil(() => pending.length === 1);
  pending.splice(0)[0]!();
  await slow!.waitForText('200 OK');
  await waitUntil(() => gateway.server.inflight === 0);

  gateway.lookup = { context: createContext([]), rejection: null };
  const again = await sendAll(END, PER_ORG);
  await waitUntil(() => pending.length === PER_ORG);
  for (const respond of pending) respond();
  for (const agent of again) await agent.waitForText('200 OK');
  expect(gateway.rejections).toEqual([' org_inflight']);
  await gateway.stop();
});

test('connections close outside the phase of immediates, where the server would never free them', async () => {
  const phases: string[] = [];
  const markFinished = Exchange.prototype.markFinished;
  const spy = vi.spyOn(Exchange.prototype, 'markFinished').mockImplementation(function (this: Exchange) {
    if (!this.isFinished) phases.push(`${this.mustCloseConnection} ${executionAsyncResource().constructor.name}`);
    markFinished.call(this);
  });
  const callRuns = () => Promise.resolve({ status: 200, body: '{}' });
  const gateway = await ProxyFixture.start(createContext([]), {}, null, {}, { callRuns });
  const requests = [
    [END, '200 OK'],
    ['DELETE /v1/runs/1 HTTP/1.1\r\nHost: gw\r\n\r\n', '401'],
    [`GET /v1/runs/1 HTTP/1.1\r\n${HEAD}\r\n`, '200 OK'],
  ] as const;
  for (const [request, status] of requests) {
    const agent = await connectRaw(gateway.port);
    agent.send(request);
    await agent.waitForText(status);
    agent.socket.destroy();
  }
  expect(phases).toEqual(['true Timeout', 'true Timeout', 'false Immediate']);
  spy.mockRestore();
  await gateway.stop();
});
