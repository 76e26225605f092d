import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  arbitraryResponses,
  mutateBytes,
  mutation,
  parseWithGateway,
  parseWithNode,
  splitAt,
} from '../http1/testing/compare-response-parsers-fixture.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { createContext, createUpstream, GATEWAY_TOKEN, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const damaged = fc.tuple(
  arbitraryResponses,
  fc.array(mutation, { maxLength: 2 }),
  fc.array(fc.nat(2_000), { maxLength: 2 }),
);

/** The same seed in every run. */
const samples = fc.sample(damaged, { numRuns: 300, seed: 11 });

test('damaged responses: the agent gets the bytes read, 502 or a closed connection; each call is booked once', async () => {
  const upstream = await RawUpstream.start();
  const gateway = await ProxyFixture.start(
    createContext([createUpstream(upstream.origin)], { agentLimits: createTestLimits({ rpmLimit: 1_000_000 }) }),
  );
  const outcomes = { whole: 0, refused: 0, broken: 0 };
  let agent = await connectRaw(gateway.port);
  for (const [i, [answer, changes, cuts]] of samples.entries()) {
    const bytes = mutateBytes(answer.bytes, changes);
    const { method } = answer;
    if (agent.closed) agent = await connectRaw(gateway.port);
    agent.received = Buffer.alloc(0);
    const length = method === 'POST' ? 'Content-Length: 0\r\n' : '';
    agent.send(
      `${method} /v1/proxy/openai/${i} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n${length}\r\n`,
    );
    const provider = () => upstream.connections.findLast((peer) => peer.text.includes(`/${i} HTTP/1.1`));
    await waitUntil(() => provider() !== undefined);
    const peer = provider()!;
    for (const piece of splitAt(bytes, cuts)) {
      peer.send(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    peer.socket.end();
    await waitUntil(() => gateway.records.length === i + 1 && gateway.server.inflight === 0);
    const expected = parseWithGateway([bytes], method, true);
    const record = gateway.records[i]!;
    if (expected.ended) {
      outcomes.whole++;
      await waitUntil(() => agent.closed || parseWithNode([agent.received], method, agent.closed).ended);
      const got = parseWithNode([agent.received], method, agent.closed);
      expect(got).toMatchObject({ ended: true, body: expected.body });
      expect(got.heads.map(([status]) => status)).toEqual([expected.heads.at(-1)![0]]);
      expect(record).toMatchObject({ error: '', status: expected.heads.at(-1)![0] });
    } else if (record.status === 0) {
      outcomes.refused++;
      expect(record).toMatchObject({ error: 'reset', responseStatus: 502 });
      await agent.waitForText('HTTP/1.1 502 ');
    } else {
      outcomes.broken++;
      expect(record).toMatchObject({ error: 'upstream_cut' });
      await agent.waitForClose();
      expect(parseWithNode([agent.received], method, true).ended).toBe(false);
    }
  }
  expect(gateway.bugs).toBe(0);
  expect(Object.values(outcomes).map((times) => times > 5)).toEqual([true, true, true]);
  await gateway.stop();
  upstream.stop();
});
