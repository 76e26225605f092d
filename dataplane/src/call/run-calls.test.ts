/** Calls about runs, which the control plane decides (docs/contract.md#runs). */
import { expect, test } from 'vitest';
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
