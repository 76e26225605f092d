/** A kept upstream connection that the upstream had closed: the call is sent once more, if the limits admit it again. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AgentContext } from '../context/agent-context.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { HeldDials } from './testing/held-dials-fixture.js';
import {
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  ProxyFixture,
} from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

const RESERVATION = 70;

let upstream: RawUpstream;
let gateway: ProxyFixture;
let dials: HeldDials;
let authorization: string;

beforeEach(async () => {
  authorization = `Bearer ${GATEWAY_TOKEN}`;
  upstream = await RawUpstream.start();
  dials = new HeldDials();
  dials.isHolding = false;
  gateway = await ProxyFixture.start(
    createContext([createUpstream(upstream.origin)]),
    { connectTimeoutMs: 60_000 },
    null,
    { dialer: dials },
  );
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

interface Request {
  readonly method?: string;
  readonly headers?: string;
  readonly body?: string;
  /** What the provider receives of the body, where that differs. */
  readonly received?: string;
  /** Bytes of the body that the agent does not send. */
  readonly unsent?: number;
}

async function send(path: string, { method = 'GET', headers = '', body, unsent = 0 }: Request = {}): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  const length = body === undefined ? '' : `Content-Length: ${body.length + unsent}\r\n`;
  agent.send(
    `${method} /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: ${authorization}\r\n` +
      `${headers}${length}\r\n${body ?? ''}`,
  );
  return agent;
}

const answer = (body: string): string => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

interface SecondCall {
  readonly agent: RawPeer;
  /** The provider's end of the connection that carries both calls. */
  readonly peer: RawPeer;
}

/** Sends a call over a connection that has carried another one, and waits until the provider has received it. */
async function startSecondCall(request: Request = {}): Promise<SecondCall> {
  const first = await send('/first');
  const peer = await upstream.connection();
  await peer.waitForText('/first ');
  peer.send(answer('one'));
  await first.waitForText('one');
  await waitUntil(() => gateway.records.length === 1);
  const agent = await send('/second', request);
  await peer.waitForText('/second ');
  await peer.waitForText(request.received ?? request.body ?? '\r\n\r\n');
  return { agent, peer };
}

const closeConnection = ({ socket }: RawPeer): void => void socket.destroy();
const resetConnection = ({ socket }: RawPeer): void => void socket.resetAndDestroy();

/** The records of calls after the first one. */
const laterRecords = async (count = 1) => {
  await waitUntil(() => gateway.records.length > count && gateway.server.inflight === 0);
  return gateway.records.slice(1);
};

describe('a kept connection that the upstream closes', () => {
  test.each([
    ['GET', 'is closed', closeConnection],
    ['GET', 'is reset', resetConnection],
    ['HEAD', 'is closed', closeConnection],
    ['PUT', 'is closed', closeConnection],
    ['DELETE', 'is closed', closeConnection],
  ] as const)('%s is sent once more over a new connection when the kept one %s', async (method, _how, ends) => {
    const body = method === 'PUT' ? 'the body' : undefined;
    const { agent, peer } = await startSecondCall({ method, ...(body === undefined ? {} : { body }) });
    ends(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText(body ?? '\r\n\r\n');
    expect(fresh.text).toBe(peer.text.slice(peer.text.indexOf(`${method} /second `)));
    fresh.send(method === 'HEAD' ? 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n' : answer('two'));
    await agent.waitForText(method === 'HEAD' ? '\r\n\r\n' : 'two');
    expect(agent.text).toContain('HTTP/1.1 200 OK');
    expect(await laterRecords()).toMatchObject([{ error: '', status: 200, circuitOutcome: 1 }]);
    expect(gateway.admissions).toHaveLength(3);
  });

  test.each([
    ['POST', { method: 'POST', body: 'x' }],
    ['PATCH', { method: 'PATCH', body: 'x' }],
    ['a call with a condition', { method: 'PUT', headers: 'If-Match: "1"\r\n', body: 'x' }],
    ['a body that streams', { method: 'PUT', body: 'x'.repeat(100_000), unsent: 1 }],
  ])('%s is not sent once more', async (_what, request) => {
    const { agent, peer } = await startSecondCall(request);
    closeConnection(peer);
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await laterRecords()).toMatchObject([{ error: 'reset', status: 0 }]);
    expect([upstream.connections.length, gateway.admissions.length]).toEqual([1, 2]);
  });

  test('nothing is sent once more after the first byte of the response', async () => {
    const { agent, peer } = await startSecondCall();
    peer.send('H');
    peer.socket.end();
    await agent.waitForText('HTTP/1.1 502 ');
    expect(upstream.connections).toHaveLength(1);
  });

  test('a call is sent once more only once, and never after a new connection', async () => {
    const { agent, peer } = await startSecondCall();
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('/second ');
    closeConnection(fresh);
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await laterRecords()).toMatchObject([{ error: 'reset', circuitOutcome: 2 }]);
    expect([upstream.connections.length, gateway.admissions.length]).toEqual([2, 3]);
  });

  test('the second send never takes another kept connection', async () => {
    const [one, other] = [await send('/a'), await send('/b')];
    const peers = [await upstream.connection(0), await upstream.connection(1)];
    for (const peer of peers) {
      await peer.waitForText('\r\n\r\n');
      peer.send(answer('ok'));
    }
    await Promise.all([one.waitForText('ok'), other.waitForText('ok')]);
    await waitUntil(() => gateway.pools.idleConnectionCount === 2);
    const agent = await send('/second');
    await waitUntil(() => upstream.text.includes('/second '));
    closeConnection(peers.find((peer) => peer.text.includes('/second '))!);
    const fresh = await upstream.connection(2);
    await fresh.waitForText('/second ');
    fresh.send(answer('two'));
    await agent.waitForText('two');
  });

  test('a call that its agent aborted is not sent once more', async () => {
    const { agent, peer } = await startSecondCall();
    agent.socket.destroy();
    await peer.waitForClose();
    expect(await laterRecords()).toMatchObject([{ error: 'client_aborted' }]);
    expect([upstream.connections.length, gateway.admissions.length]).toEqual([1, 2]);
  });

  test('later calls use the new connection', async () => {
    const { agent, peer } = await startSecondCall();
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('/second ');
    fresh.send(answer('two'));
    await agent.waitForText('two');
    await laterRecords();
    const third = await send('/third');
    await fresh.waitForText('/third ');
    fresh.send(answer('three'));
    await third.waitForText('three');
  });
});

describe('the second send', () => {
  const useContext = (changes: Partial<AgentContext>, credential?: string): void => {
    const account = createUpstream(upstream.origin);
    const injection = { ...account.injection, ...(credential === undefined ? {} : { value: credential }) };
    const context = createContext([{ ...account, injection: injection as typeof account.injection }], changes);
    gateway.lookup = { context, rejection: null };
  };

  test.each(['by the precheck', 'by admission'])('is rejected %s: 429, one record, no failure', async (when) => {
    useContext({ agentLimits: createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true }) });
    gateway.boundNanos = RESERVATION;
    gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
    const { agent, peer } = await startSecondCall();
    gateway.admission = createRejectedAdmission('rpm', 1_900_000_000);
    if (when === 'by the precheck') {
      const rejection = { row: gateway.admission.rejectedByRow, retryAtSec: 1_900_000_000 };
      gateway.standing = {
        spends: [],
        windows: [{ providerSlug: 'openai', remaining: [], resetAtSec: [], rejection }],
      };
    }
    closeConnection(peer);
    await agent.waitForText('HTTP/1.1 429 ');
    expect(agent.text).toContain('"limitType":"rpm"');
    expect(await laterRecords()).toMatchObject([
      { error: 'retry_rejected', status: 0, responseStatus: 429, circuitOutcome: 0, probeLease: 'lease-1' },
    ]);
    expect(gateway.rejections).toEqual([]); // A forwarded call has a record instead.
    // Each call has released its own reservation once.
    const released = gateway.settlements.map(({ reservationNanos }) => reservationNanos);
    expect([released, gateway.releasedProbes]).toEqual([[RESERVATION, RESERVATION], []]);
    expect(gateway.admissions).toHaveLength(when === 'by admission' ? 3 : 2);
    expect(upstream.connections).toHaveLength(when === 'by admission' ? 2 : 1);
  });

  test('carries over the reservation of the first, and a cost replaces it once', async () => {
    useContext({ agentLimits: createTestLimits({ agentId: 'agent-1', budgetCents: 100, hardBudget: true }) });
    gateway.boundNanos = RESERVATION;
    const { agent, peer } = await startSecondCall();
    gateway.costNanos = 5;
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('/second ');
    fresh.send(answer('two'));
    await agent.waitForText('two');
    await laterRecords();
    const reserved = gateway.admissions.map(({ reservationNanos }) => reservationNanos);
    expect(reserved).toEqual([RESERVATION, RESERVATION, 0]);
    const settled = gateway.settlements.map(({ reservationNanos, costNanos }) => [reservationNanos, costNanos]);
    expect(settled).toEqual([
      [RESERVATION, 0],
      [RESERVATION, 5],
    ]);
  });

  test('takes the reservation that the first did not get while the store was away', async () => {
    useContext({
      agentLimits: createTestLimits({
        agentId: 'agent-1',
        budgetCents: 100,
        hardBudget: true,
        rejectsUnchecked: false,
      }),
    });
    gateway.boundNanos = RESERVATION;
    const { admission } = gateway;
    gateway.admission = { ...admission, outcome: 'unchecked' };
    const { agent, peer } = await startSecondCall();
    gateway.admission = admission;
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('/second ');
    fresh.send(answer('two'));
    await agent.waitForText('two');
    await laterRecords();
    expect(gateway.admissions.at(-1)!.reservationNanos).toBe(RESERVATION);
    expect(gateway.settlements.map(({ reservationNanos }) => reservationNanos)).toEqual([0, RESERVATION]);
  });

  test('has the credential of the context of its time', async () => {
    const { agent, peer } = await startSecondCall();
    useContext({}, 'Bearer sk-rotated');
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('authorization: Bearer sk-rotated\r\n');
    fresh.send(answer('two'));
    await agent.waitForText('two');
  });

  test('of an upload to an object store is signed again and has the decoded body', async () => {
    const injection = {
      kind: 'sigv4',
      accessKeyId: 'AKID',
      secretAccessKey: 'secret-access-key',
      sessionToken: null,
      region: 'us-east-1',
      service: 's3',
      isObjectStorage: true,
      pathPrefix: null,
      extraHeaders: [['x-extra', 'once']],
      appendHeaders: [],
      extraQuery: [],
      dropHeaders: new Set<string>(),
      secretForms: [],
    };
    gateway.lookup = {
      context: createContext([createUpstream(upstream.origin, { injection: injection as never })]),
      rejection: null,
    };
    authorization = `AWS4-HMAC-SHA256 Credential=${GATEWAY_TOKEN}/20261121/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00`;
    const { agent, peer } = await startSecondCall({
      method: 'PUT',
      headers: 'x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nx-amz-decoded-content-length: 4\r\n',
      body: '4;chunk-signature=00\r\nbody\r\n0;chunk-signature=00\r\n\r\n',
      received: 'body',
    });
    closeConnection(peer);
    const fresh = await upstream.connection(1);
    await fresh.waitForText('\r\n\r\nbody');
    const unsigned = (text: string) => text.replace(/authorization: .*\r\n|x-amz-date: .*\r\n/g, '');
    expect(unsigned(fresh.text)).toBe(unsigned(peer.text.slice(peer.text.indexOf('PUT /second '))));
    expect(fresh.text.match(/authorization: AWS4-HMAC-SHA256 Credential=AKID/g)).toHaveLength(1);
    fresh.send(answer('two'));
    await agent.waitForText('two');
  });

  test('is rejected where the credential of its time cannot be sent: 400 and one record', async () => {
    const { agent, peer } = await startSecondCall();
    useContext({}, 'Bearer a\nb');
    closeConnection(peer);
    await agent.waitForText('HTTP/1.1 400 ');
    expect(await laterRecords()).toMatchObject([{ error: 'retry_rejected', responseStatus: 400, circuitOutcome: 0 }]);
    await waitUntil(() => gateway.pools.idleConnectionCount === 1);
    expect([upstream.text.split('/second ').length, gateway.bugs]).toEqual([2, 0]);
  });

  test('is not made for an agent that was paused meanwhile', async () => {
    dials.isHolding = false;
    const { agent, peer } = await startSecondCall();
    useContext({ agentStatus: 'paused' });
    closeConnection(peer);
    await agent.waitForText('HTTP/1.1 403 ');
    expect(await laterRecords()).toMatchObject([{ error: 'retry_rejected', responseStatus: 403, circuitOutcome: 0 }]);
    expect(gateway.admissions).toHaveLength(2);
    expect(upstream.text.split('/second ')).toHaveLength(2);
  });

  test('fails with its dial: 502, a failure of the provider, and no second admission', async () => {
    const { agent, peer } = await startSecondCall();
    dials.isHolding = true;
    closeConnection(peer);
    await waitUntil(() => dials.begun.length === 2);
    dials.begun[1]!.fail(new Error('refused'));
    await agent.waitForText('HTTP/1.1 502 ');
    expect(await laterRecords()).toMatchObject([{ error: 'reset', responseStatus: 502, circuitOutcome: 2 }]);
    expect(gateway.admissions).toHaveLength(2);
  });

  test.each(['dialed', 'admitted'])('is not made when the agent disconnects while it is %s', async (when) => {
    const { agent, peer } = await startSecondCall();
    const asked: (() => void)[] = [];
    gateway.pendingAdmissions = asked;
    dials.isHolding = when === 'dialed';
    closeConnection(peer);
    await waitUntil(() => (when === 'dialed' ? dials.begun.length === 2 : asked.length === 1));
    agent.socket.destroy();
    expect(await laterRecords()).toMatchObject([{ error: 'client_aborted', status: 0 }]);
    if (when === 'dialed') dials.begun[1]!.connect();
    for (const admit of asked) admit();
    await waitUntil(() => gateway.pools.idleConnectionCount === 1);
    expect([upstream.text.split('/second ').length, gateway.records.length, gateway.bugs]).toEqual([2, 2, 0]);
  });
});
