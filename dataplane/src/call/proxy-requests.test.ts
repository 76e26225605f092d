import { afterEach, beforeEach, expect, test } from 'vitest';
import { AGENT_PROVIDER_ROWS, RPD_ROW, RPM_ROW } from '../limits/limit-table.js';
import { createTestLimits } from '../limits/testing/agent-limits-fixture.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import {
  ADMITTED,
  createContext,
  createRejectedAdmission,
  createUpstream,
  GATEWAY_TOKEN,
  PROVIDER_KEY,
  ProxyFixture,
} from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]));
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const AUTH = `Authorization: Bearer ${GATEWAY_TOKEN}\r\n`;
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const line = (method: string, target: string): string => `${method} ${target} HTTP/1.1\r\nHost: gw\r\n${AUTH}`;

async function send(text: string): Promise<RawPeer> {
  const agent = await connectRaw(gateway.port);
  agent.send(text);
  return agent;
}

/** The whole response to a request that the gateway rejects, without the parts that change from call to call. */
async function refused(text: string, rejection: Rejection): Promise<string> {
  const agent = await send(text);
  await agent.waitForText(rejection.body);
  agent.socket.destroy();
  return agent.text.replace(/\r\nx-gateway-request-id: [0-9a-f-]{36}/, '').replace(/\r\nDate: [^\r]+/, '');
}

/** The bytes that the server writes around the gateway's own. */
function answerOf(rejection: Rejection, close: boolean): string {
  let headers = '';
  for (let i = 0; i < rejection.headers.length; i += 2) {
    headers += `${rejection.headers[i]}: ${rejection.headers[i + 1]}\r\n`;
  }
  const end = `uWebSockets: 20\r\nContent-Length: ${rejection.body.length}\r\n\r\n${rejection.body}`;
  return `HTTP/1.1 ${rejection.statusLine}\r\ncontent-type: application/json\r\n${headers}${close ? 'Connection: close\r\n' : ''}${end}`;
}

test.each([
  ['no token', 'GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\n\r\n', REJECTIONS.unauthorized],
  ['unknown token', line('GET', '/v1/proxy/openai/x').replace('acg_0', 'acg_f') + '\r\n', REJECTIONS.unauthorized],
  [
    'two different tokens',
    `${line('GET', '/v1/proxy/openai/x')}x-api-key: ${GATEWAY_TOKEN.replace('acg_0', 'acg_f')}\r\n\r\n`,
    REJECTIONS.conflictingTokens,
  ],
  ['unknown provider', `${line('GET', '/v1/proxy/nobody/x')}\r\n`, REJECTIONS.unknownProvider],
  ['provider not assigned', `${line('GET', '/v1/proxy/anthropic/x')}\r\n`, REJECTIONS.notAssigned],
  ['another path', `${line('GET', '/v1/agents')}\r\n`, REJECTIONS.notFound],
  ['dot segments', `${line('GET', '/v1/proxy/openai/a/../b')}\r\n`, REJECTIONS.malformedTarget],
  ['encoded dot segments', `${line('GET', '/v1/proxy/openai/%2e%2e/b')}\r\n`, REJECTIONS.malformedTarget],
] as const)('rejection: %s, byte for byte', async (_name, text, rejection) => {
  expect(await refused(text, rejection)).toBe(answerOf(rejection, rejection.closesConnection));
  expect(upstream.connections).toHaveLength(0);
  expect(gateway.admissions).toHaveLength(0);
});

test.each([
  ['paused', REJECTIONS.paused],
  ['revoked', REJECTIONS.revoked],
] as const)('rejection: a %s agent gets 403 and consumes nothing', async (agentStatus, rejection) => {
  gateway.lookup = { context: createContext([createUpstream(upstream.origin)], { agentStatus }), rejection: null };
  expect(await refused(`${line('GET', '/v1/proxy/openai/x')}\r\n`, rejection)).toBe(answerOf(rejection, false));
  expect(gateway.admissions).toHaveLength(0);
  expect(gateway.rejections).toEqual([` ${agentStatus}`]);
});

test('rejection: an expired token gets 401 although its context is cached', async () => {
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin)], { keyExpiresAtMs: Date.now() }),
    rejection: null,
  };
  await refused(`${line('GET', '/v1/proxy/openai/x')}\r\n`, REJECTIONS.unauthorized);
});

test.each([
  ['agent_required', REJECTIONS.agentRequired],
  ['agent_ambiguous', REJECTIONS.agentAmbiguous],
  ['agent_out_of_scope', REJECTIONS.agentOutOfScope],
  ['unavailable', REJECTIONS.contextsUnavailable],
] as const)('rejection: a lookup returns %s, cached and uncached', async (refusal, rejection) => {
  gateway.lookup = { context: null, rejection: refusal };
  for (const later of [false, true]) {
    gateway.lookupLater = later;
    expect(await refused(`${line('GET', '/v1/proxy/openai/x')}\r\n`, rejection)).toBe(answerOf(rejection, false));
  }
});

test.each([
  ['rpm', 'x-ratelimit-limit: 60\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: ', 'retry-after: 60'],
  ['rpd', 'x-ratelimit-limit: 10000\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: ', 'x-should-retry: false'],
  [
    'budget',
    'x-should-retry: false',
    '"limitType":"budget","scope":"agent","window":"month","spentCents":500,"budgetCents":500',
  ],
] as const)('rejection: %s gets 429 with its headers, in the same turn and later', async (outcome, ...expected) => {
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin)], { agentLimits: createTestLimits({ budgetCents: 500 }) }),
    rejection: null,
  };
  gateway.admission = createRejectedAdmission(outcome, 4_000_000_000, 4_995_000_000);
  for (const later of [false, true]) {
    gateway.admitLater = later;
    const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
    await agent.waitForText('"}'.replace('"', outcome === 'budget' ? '0' : '0'));
    expect(agent.text).toContain('HTTP/1.1 429 Too Many Requests\r\n');
    for (const text of expected) expect(agent.text).toContain(text);
    if (outcome !== 'rpm') expect(agent.text).not.toContain('retry-after');
    if (outcome === 'budget') expect(agent.text).not.toContain('x-ratelimit');
  }
  expect(upstream.text).toBe('');
});

test('circuit: OPEN gets 503 with Retry-After and consumes nothing', async () => {
  gateway.circuit = { state: 'OPEN', epoch: 7, openUntilMs: Date.now() + 20_000 };
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await agent.waitForText('Retry later."}');
  expect(agent.text).toMatch(/^HTTP\/1\.1 503 [\s\S]+retry-after: (19|20)\r\n/);
  expect(gateway.admissions).toHaveLength(0);
});

test('circuit: releases the lease of a probe that is rejected afterwards', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  gateway.admission = createRejectedAdmission('rpm', 4_000_000_000);
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await agent.waitForText('429');
  expect(gateway.releasedProbes).toEqual(['lease-1']);
});

test('circuit: releases a probe lease that is granted after the agent disconnected', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const held: ((lease: string | null) => void)[] = [];
  gateway.pendingProbes = held;
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await waitUntil(() => held.length === 1);
  agent.socket.destroy();
  await waitUntil(() => gateway.server.inflight === 0);
  expect(gateway.releasedProbes).toEqual([]);
  held[0]!('lease-1');
  expect(gateway.releasedProbes).toEqual(['lease-1']);
  expect(gateway.records).toHaveLength(0);
  expect(upstream.connections).toHaveLength(0);
});

test('usage: record and counters use the month of the admission and count the tokens', async () => {
  const admittedAtSec = Date.UTC(2020, 11) / 1000;
  gateway.admission = { ...ADMITTED, admittedAtSec };
  gateway.costNanos = 5;
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  (await upstream.connection()).send(OK);
  await agent.waitForText('\r\n\r\nok');
  expect(gateway.records).toMatchObject([{ month: '2020-12' }]);
  // The fixture's meter counts each byte of the response as a token.
  expect(gateway.settlements).toMatchObject([{ admittedAtSec, costNanos: 5, tokens: 2, reservationNanos: 0 }]);
});

test('circuit: the usage record of a probe holds its lease and epoch', async () => {
  gateway.circuit = { state: 'HALF_OPEN', epoch: 7, openUntilMs: 0 };
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  (await upstream.connection()).send(OK);
  await agent.waitForText('\r\n\r\nok');
  expect(gateway.records[0]).toMatchObject({ probeLease: 'lease-1', circuitEpoch: 7, circuitOutcome: 1 });
  expect(gateway.releasedProbes).toEqual([]);
});

test('overload: rejects new calls with 503 and Retry-After past MAX_INFLIGHT and with a full spool', async () => {
  gateway.spoolFull = true;
  await refused(`${line('GET', '/v1/proxy/openai/x')}\r\n`, REJECTIONS.spoolFull);
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), { inflightMax: 1 });
  await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await upstream.connection();
  expect(await refused(`${line('GET', '/v1/proxy/openai/x')}\r\n`, REJECTIONS.overloaded)).toContain('retry-after: 1');
});

test('overload: rejects an organization whose records fill the spool, and serves others', async () => {
  const call = `${line('GET', '/v1/proxy/openai/x')}\r\n`;
  gateway.spoolFullFor.add(createContext([]).orgId);
  expect(await refused(call, REJECTIONS.spoolFull)).toContain('retry-after: 5');
  gateway.spoolFullFor.clear();
  gateway.spoolFullFor.add('of-another');
  const agent = await send(call);
  (await upstream.connection()).send(OK);
  await agent.waitForText('\r\n\r\nok');
});

test('overload: rejects an organization at its concurrency limit with 503 org_inflight until a slot is free, and serves others', async () => {
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), {
    inflightMax: 4,
    inflightPerOrgMax: 2,
  });
  const call = `${line('GET', '/v1/proxy/openai/x')}\r\n`;
  const agents = [await send(call), await send(call)];
  const provider = await upstream.connection(0);
  await upstream.connection(1);
  const answer = await refused(call, REJECTIONS.orgConcurrencyExceeded);
  expect(answer).toContain('retry-after: 1');
  expect(answer).toContain('"reason":"org_inflight"');
  const { lookup } = gateway;
  gateway.lookup = { context: createContext([createUpstream(upstream.origin)], { orgId: 'org-2' }), rejection: null };
  await send(call);
  await upstream.connection(2);
  gateway.lookup = lookup;
  provider.send(OK);
  const first = agents.find((agent) => agent.text !== '') ?? agents[0]!;
  await Promise.race(agents.map((agent) => agent.waitForText('\r\n\r\nok')));
  expect(first.closed).toBe(false);
  await send(call);
  await provider.waitUntil(() => provider.text.split('GET /x').length === 3);
});

test('tarpit: delays rejections of unauthenticated clients without a slot, and serves authenticated agents', async () => {
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), { inflightMax: 1 });
  gateway.isOverRejectionLimit = true;
  const stranger = await send('GET /v1/proxy/openai/x HTTP/1.1\r\nhost: gw\r\n\r\n');
  const lost = await send('POST /nowhere HTTP/1.1\r\nhost: gw\r\ncontent-length: 100000\r\n\r\nhalf');
  await waitUntil(() => gateway.rejectionChecks === 2);
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  const provider = await upstream.connection();
  expect([stranger.text, lost.text]).toEqual(['', '']);
  expect(gateway.server.inflight).toBe(1);
  provider.send(OK);
  await agent.waitForText('\r\n\r\nok');
  await stranger.waitForText(REJECTIONS.unauthorized.body);
  await lost.waitForText(REJECTIONS.notFound.body);
  await waitUntil(() => lost.closed);
  expect(gateway.server.inflight).toBe(0);
});

test('tarpit: a client that disconnects before its delayed rejection changes no count', async () => {
  gateway.isOverRejectionLimit = true;
  const stranger = await send('GET /v1/proxy/openai/x HTTP/1.1\r\nhost: gw\r\n\r\n');
  await waitUntil(() => gateway.rejectionChecks === 1);
  stranger.socket.destroy();
  const other = await send('GET /v1/proxy/openai/x HTTP/1.1\r\nhost: gw\r\n\r\n');
  await other.waitForText(REJECTIONS.unauthorized.body); // Later than the first rejection would have been sent.
  expect(gateway.server.inflight).toBe(0);
  expect(gateway.bugs).toBe(0);
});

test('overload: rejects unknown tokens over the limit with 429 unknown_tokens, without a lookup', async () => {
  gateway.lookupLater = true;
  gateway.unknownTokensWaitSec = 7;
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await agent.waitForText('"reason":"unknown_tokens"}');
  expect(agent.text).toMatch(/^HTTP\/1\.1 429 [\s\S]+retry-after: 7\r\n/);
  expect(gateway.admissions).toHaveLength(0);
  gateway.lookupLater = false; // Cached: no lookup is needed.
  await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await upstream.connection();
});

test('token: finishes each lookup with its result, and starts none for a cached token', async () => {
  const call = `${line('GET', '/v1/proxy/openai/x')}x-gateway-agent: support\r\n\r\n`;
  await send(call);
  await upstream.connection(0);
  expect([gateway.finishedLookups, gateway.agentRefs]).toEqual([[], ['support']]);
  gateway.lookupLater = true;
  await send(call);
  await upstream.connection(1);
  expect(gateway.finishedLookups).toEqual([false]);
  await refused(call.replace('acg_0', 'acg_f'), REJECTIONS.unauthorized);
  expect(gateway.finishedLookups).toEqual([false, true]);
  gateway.lookup = { context: null, rejection: 'unavailable' };
  await refused(call, REJECTIONS.contextsUnavailable);
  expect(gateway.finishedLookups).toEqual([false, true, false]); // The token was not resolved.
});

test('overload: closes connections past the limit of an address, unless it is exempt', async () => {
  await gateway.stop();
  const options = { connectionsPerAddressMax: 2, isAddressExempt: () => false };
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), options);
  const kept = [await connectRaw(gateway.port), await connectRaw(gateway.port)];
  const late = await connectRaw(gateway.port);
  await late.waitForClose();
  expect(kept.map(({ closed }) => closed)).toEqual([false, false]);
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), {
    ...options,
    isAddressExempt: () => true,
  });
  const all = await Promise.all([1, 2, 3, 4].map(() => connectRaw(gateway.port)));
  all[3]!.send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await upstream.connection();
  expect(all.map(({ closed }) => closed)).toEqual([false, false, false, false]);
});

test('overload: closes connections past the maximum', async () => {
  await gateway.stop();
  gateway = await ProxyFixture.start(createContext([createUpstream(upstream.origin)]), { connectionsMax: 1 });
  const first = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await upstream.connection();
  const second = await connectRaw(gateway.port);
  await second.waitForClose();
  expect(first.closed).toBe(false);
});

test('forward: keeps path and query byte for byte, replaces the credential, and sends no header of the gateway', async () => {
  const target = '/v1/proxy/openai//v1/a%2Fb%20c;x=1/?q=%41&b=%2f&&c';
  await send(
    `${line('GET', target)}Cookie: a=b\r\nX-Forwarded-For: 1.2.3.4\r\nX-Gateway-Agent: me\r\nX-Api-Key: other\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-Mine: kept\r\n\r\n`,
  );
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\n');
  expect(provider.text.startsWith('GET //v1/a%2Fb%20c;x=1/?q=%41&b=%2f&&c HTTP/1.1\r\n')).toBe(true);
  expect(provider.text).toContain(`authorization: Bearer ${PROVIDER_KEY}\r\n`);
  expect(provider.text).toContain('x-mine: kept\r\n');
  for (const absent of [GATEWAY_TOKEN, 'cookie', '1.2.3.4', 'x-gateway', 'x-api-key', 'x-hop', 'gw']) {
    expect(provider.text.toLowerCase()).not.toContain(absent);
  }
});

test('body: a body with Content-Length arrives whole, however it is split', async () => {
  const agent = await send(`${line('POST', '/v1/proxy/openai/x')}Content-Length: 10\r\n\r\n123`);
  await waitUntil(() => gateway.limitPeeks.length === 1);
  agent.send('4567890');
  const provider = await upstream.connection();
  await provider.waitForText('1234567890');
  expect(provider.text).toContain('content-length: 10\r\n');
  provider.send(OK);
  await agent.waitForText('\r\n\r\nok');
  expect(agent.text).not.toContain('Connection: close');
  expect(gateway.records[0]).toMatchObject({ bytesIn: 10 });
});

test('body: Content-Length 0 does not wait', async () => {
  const agent = await send(`${line('POST', '/v1/proxy/openai/x')}Content-Length: 0\r\n\r\n`);
  const provider = await upstream.connection();
  await provider.waitForText('content-length: 0\r\n');
  provider.send(OK);
  await agent.waitForText('\r\n\r\nok');
});

test('body: accepts a chunked body, and closes the connection after the response', async () => {
  const agent = await send(
    `${line('POST', '/v1/proxy/openai/x')}Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n`,
  );
  const provider = await upstream.connection();
  await provider.waitForText('12345');
  provider.send(OK);
  await agent.waitForClose();
  expect(agent.text).toMatch(/\r\nConnection: close\r\n[\s\S]*\r\n\r\nok$/);
});

test.each(['Content-Length', 'chunked'])(
  'body: a long body streams at the speed of the upstream (%s)',
  async (framing) => {
    const piece = Buffer.alloc(65_536, 'y');
    const pieces = 800; // 50 MiB
    const coding = framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${piece.length * pieces}`;
    const agent = await send(`${line('PUT', '/v1/proxy/openai/x')}${coding}\r\n\r\n`);
    let sent = 0;
    const pump = (): void => {
      while (sent < pieces) {
        sent++;
        if (framing === 'chunked') agent.socket.write('10000\r\n');
        let open = agent.socket.write(piece);
        if (framing === 'chunked') open = agent.socket.write(sent === pieces ? '\r\n0\r\n\r\n' : '\r\n');
        if (!open) return;
      }
    };
    agent.socket.on('drain', pump);
    pump();
    const provider = await upstream.connection();
    provider.socket.pause();
    let before = -1;
    while (before !== agent.socket.bytesWritten) {
      before = agent.socket.bytesWritten;
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(pieces);
    let received = 0;
    provider.socket.removeAllListeners('data');
    provider.socket.on('data', (chunk) => {
      received += chunk.length;
    });
    provider.socket.resume();
    await waitUntil(() => received >= piece.length * pieces);
    provider.send(OK);
    await agent.waitForText('ok');
    expect(gateway.records[0]).toMatchObject({ bytesIn: piece.length * pieces, error: '' });
  },
  30_000,
);

test('body: aborts the upstream call of an agent that disconnects during its upload', async () => {
  const agent = await send(`${line('PUT', '/v1/proxy/openai/x')}Content-Length: 1000000\r\n\r\n${'z'.repeat(100_000)}`);
  const provider = await upstream.connection();
  await provider.waitForText('zzz');
  agent.socket.destroy();
  await provider.waitForClose();
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'client_aborted', status: 0 });
});

test('body: forwards a response that arrives before the upload ends, and closes the connection', async () => {
  const agent = await send(`${line('PUT', '/v1/proxy/openai/x')}Content-Length: 1000000\r\n\r\n${'z'.repeat(100_000)}`);
  const provider = await upstream.connection();
  await provider.waitForText('zzz');
  provider.send('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
  await agent.waitForClose();
  expect(agent.text).toContain('HTTP/1.1 413 ');
  expect(agent.text).toContain('\r\n\r\nbig');
});

test('pipelining: a second request during the first closes the connection; the first is booked', async () => {
  const agent = await send(`${line('GET', '/v1/proxy/openai/x')}\r\n`);
  await upstream.connection();
  agent.send(`${line('GET', '/v1/proxy/openai/y')}\r\n`);
  await agent.waitForClose();
  expect(gateway.records.map(({ path, error }) => [path, error])).toEqual([['/x', 'client_aborted']]);
});

test('pipelining: bytes behind a rejected request in the same segment are not parsed as a request', async () => {
  const agent = await send(
    `GET /v1/proxy/openai/x HTTP/1.1\r\nHost: gw\r\n\r\n${line('GET', '/v1/proxy/openai/y')}\r\n`,
  );
  await agent.waitForClose();
  expect(upstream.connections).toHaveLength(0);
});

test.each([
  ['two hosts', `${line('GET', '/v1/proxy/openai/x')}Host: b\r\n\r\n`],
  ['no host', `GET /v1/proxy/openai/x HTTP/1.1\r\n${AUTH}\r\n`],
  ['two lengths', `${line('POST', '/v1/proxy/openai/x')}Content-Length: 1\r\nContent-Length: 1\r\n\r\na`],
  ['empty length', `${line('POST', '/v1/proxy/openai/x')}Content-Length: \r\n\r\n`],
  ['signed length', `${line('POST', '/v1/proxy/openai/x')}Content-Length: +1\r\n\r\na`],
  [
    'length and chunked',
    `${line('POST', '/v1/proxy/openai/x')}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  [
    'two codings',
    `${line('POST', '/v1/proxy/openai/x')}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ],
  ['another coding', `${line('POST', '/v1/proxy/openai/x')}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['two authorizations', `${line('GET', '/v1/proxy/openai/x')}${AUTH}\r\n`],
  ['unknown method', `${line('FETCH', '/v1/proxy/openai/x')}\r\n`],
  ['lower-case method', `${line('get', '/v1/proxy/openai/x')}\r\n`],
  ['CONNECT', `${line('CONNECT', '/v1/proxy/openai/x')}\r\n`],
  ['backslash', `${line('GET', '/v1/proxy/openai/a\\b')}\r\n`],
  ['fragment', `${line('GET', '/v1/proxy/openai/a#b')}\r\n`],
  ['DEL in the target', `${line('GET', '/v1/proxy/openai/a\x7fb')}\r\n`],
  ['high bytes in the target', `${line('GET', '/v1/proxy/openai/a\xe9b')}\r\n`],
  ['many headers', `${line('GET', '/v1/proxy/openai/x')}${'a: b\r\n'.repeat(100)}\r\n`],
  ['long headers', `${line('GET', '/v1/proxy/openai/x')}a: ${'b'.repeat(20_000)}\r\n\r\n`],
  ['long target', `${line('GET', `/v1/proxy/openai/${'x'.repeat(9_000)}`)}\r\n`],
  ['bytes that are no UTF-8 in a value', `${line('GET', '/v1/proxy/openai/x')}a: b\xffq\r\n\r\n`],
  ['another expectation', `${line('POST', '/v1/proxy/openai/x')}Expect: magic\r\nContent-Length: 1\r\n\r\na`],
  [
    'PROXY protocol',
    `\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\x7f\x00\x00\x01\x7f\x00\x00\x01\x00\x01\x00\x02${line('GET', '/v1/proxy/openai/x')}\r\n`,
  ],
])('malformed: %s never reaches an upstream and ends the connection', async (_name, text) => {
  const agent = await connectRaw(gateway.port);
  agent.send(Buffer.from(text, 'latin1'));
  await agent.waitForClose();
  expect(agent.text).not.toContain('HTTP/1.1 2');
  expect(upstream.connections).toHaveLength(0);
  expect(gateway.bugs).toBe(0);
});

// The server trims them at the very end of a value, a limit of its parser.
test('headers: keeps the bytes of values beyond ASCII', async () => {
  const agent = await connectRaw(gateway.port);
  agent.send(Buffer.from(`${line('GET', '/v1/proxy/openai/x')}X-Title: café 漢 end\r\n\r\n`, 'utf8'));
  const provider = await upstream.connection();
  await provider.waitForText('\r\n\r\n');
  expect(provider.received.includes(Buffer.from('x-title: café 漢 end\r\n', 'utf8'))).toBe(true);
  provider.send(Buffer.from('HTTP/1.1 200 OK\r\nX-Title: café\r\nContent-Length: 2\r\n\r\nok', 'latin1'));
  await agent.waitForText('\r\n\r\nok');
  expect(agent.received.includes(Buffer.from('x-title: café\r\n', 'latin1'))).toBe(true);
});

test('self: shows the status of an agent, paused or not, and consumes nothing', async () => {
  const policy = { closed: false, calls: ['GET /v1/models'], models: null };
  const agentLimits = createTestLimits({ agentId: 'agent-1', budgetCents: 500 });
  const budget = agentLimits.budgets[0]!;
  const context = createContext([createUpstream(upstream.origin, { policy })], { agentStatus: 'paused', agentLimits });
  gateway.lookup = { context, rejection: null };
  gateway.circuit = { state: 'OPEN', epoch: 1, openUntilMs: 1 };
  const figures = (rpm: number, rpd: number) =>
    AGENT_PROVIDER_ROWS.map((row) => ({ [RPM_ROW]: rpm, [RPD_ROW]: rpd })[row] ?? 0);
  const [remaining, resetAtSec] = [figures(58, 9_998), figures(1_900_000_000, 1_900_050_000)];
  const window = { providerSlug: 'openai', remaining, resetAtSec, rejection: null };
  const spends = [{ budget, spentNanos: 1_235_000_000, reservedNanos: 0 }];
  // By the store's clock: that of the data plane may be in another month.
  gateway.standing = { takenAtSec: Date.UTC(2031, 0, 31, 23, 59, 59) / 1000, windows: [window], spends };
  const ask = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${GATEWAY_TOKEN}` };
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/self`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    return response.json();
  };
  expect(await ask()).toMatchObject({
    agent: { id: 'agent-1', name: 'Agent', slug: 'agent', status: 'paused' },
    limits: { rpm: 60, rpd: 10_000, budgetCents: 500 },
    spentCents: 124,
    month: '2031-01',
    budgetResetAt: Date.UTC(2031, 1) / 1000,
    budgets: [{ window: 'month', spentCents: 124, resetAt: Date.UTC(2031, 1) / 1000 }],
    providers: [
      {
        slug: 'openai',
        status: 'active',
        circuit: 'OPEN',
        rpmRemaining: 58,
        rpmResetAt: 1_900_000_000,
        rpdRemaining: 9_998,
        rpdResetAt: 1_900_050_000,
        policy,
      },
    ],
  });
  gateway.standing = null;
  expect(await ask()).toMatchObject({ spentCents: null, providers: [{ rpmRemaining: null, rpdResetAt: null }] });
  expect(gateway.admissions).toHaveLength(0);
});

test('body: a damaged aws-chunked upload gets 400 and is no failure of the provider', async () => {
  const injection = {
    kind: 'sigv4',
    accessKeyId: 'AKID',
    secretAccessKey: 'secret-access-key',
    sessionToken: null,
    region: 'us-east-1',
    service: 's3',
    isObjectStorage: true,
    pathPrefix: null,
    extraHeaders: [],
    appendHeaders: [],
    extraQuery: [],
    dropHeaders: new Set<string>(),
    secretForms: [],
  } as const;
  const s3 = createUpstream(upstream.origin, { providerSlug: 's3', injection: injection as never });
  gateway.lookup = { context: createContext([s3]), rejection: null };
  const signature = `AWS4-HMAC-SHA256 Credential=${GATEWAY_TOKEN}/20261121/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=00`;
  const head = `PUT /v1/proxy/s3/bucket/key HTTP/1.1\r\nHost: gw\r\nAuthorization: ${signature}\r\nx-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\nx-amz-decoded-content-length: 200000\r\nContent-Length: 200100\r\n\r\n`;
  const agent = await send(`${head}10000;chunk-signature=00\r\n${'x'.repeat(65_536)}\r\n`);
  await (await upstream.connection()).waitForText('xxx');
  agent.send(`zz\r\n${'x'.repeat(1_000)}`);
  await agent.waitForText('HTTP/1.1 400 ');
  await waitUntil(() => gateway.records.length === 1);
  expect(gateway.records[0]).toMatchObject({ error: 'client_aborted', responseStatus: 400, circuitOutcome: 0 });
});
