import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AgentContext } from '../context/agent-context.js';
import { createContext, createUpstream, GATEWAY_TOKEN, PROVIDER_KEY, ProxyFixture } from './testing/proxy-fixture.js';
import { connectRaw, type RawPeer, RawUpstream, waitUntil } from './testing/raw-peer-fixture.js';

let upstream: RawUpstream;
let gateway: ProxyFixture;

beforeEach(async () => {
  upstream = await RawUpstream.start();
  gateway = await ProxyFixture.start(contextFor(upstream));
});

afterEach(async () => {
  await gateway.stop();
  upstream.stop();
});

const contextFor = (server: RawUpstream): AgentContext => createContext([createUpstream(server.origin)]);

const requestText = (method: string, path: string, extra = ''): string =>
  `${method} /v1/proxy/openai${path} HTTP/1.1\r\nHost: gw\r\nAuthorization: Bearer ${GATEWAY_TOKEN}\r\n${extra}\r\n`;

/** Sends a request and returns both ends once the upstream has its head. */
async function call(
  method: string,
  path: string,
  extra = '',
  body = '',
): Promise<{ agent: RawPeer; provider: RawPeer }> {
  const agent = await connectRaw(gateway.port);
  const index = upstream.connections.length;
  agent.send(requestText(method, path, extra) + body);
  const provider = await upstream.connection(index);
  await provider.waitForText('\r\n\r\n');
  return { agent, provider };
}

test('relay: forwards each chunk before the next one is sent', async () => {
  const { agent, provider } = await call('GET', '/stream');
  provider.send('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
  for (const event of ['one', 'two', 'three']) {
    provider.send(`a\r\ndata:${event.padEnd(5)}\r\n`);
    await agent.waitForText(`data:${event}`);
  }
  expect(gateway.records).toHaveLength(0);
  provider.send('0\r\n\r\n');
  await agent.waitForText('\r\n0\r\n\r\n');
  expect(gateway.records).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ status: 200, bytesOut: 30, streamed: true, error: '' });
});

test('relay: sends the head of a body of known length with its first bytes', async () => {
  const { agent, provider } = await call('GET', '/slow');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  await waitUntil(() => gateway.planned === 1);
  provider.send('1');
  await agent.waitForText('Content-Length: 5\r\n\r\n1');
  provider.send('2345');
  await agent.waitForText('\r\n\r\n12345');
});

test('relay: forwards a body of one byte that follows its head', async () => {
  const { agent, provider } = await call('GET', '/slow');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n');
  await waitUntil(() => gateway.planned === 1);
  provider.send('1');
  await agent.waitForText('Content-Length: 1\r\n\r\n1');
  expect(gateway.records).toMatchObject([{ error: '', bytesOut: 1 }]);
});

/** Completes calls that begin now: everything that the gateway sent before them has arrived. */
async function roundTrips(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const other = await connectRaw(gateway.port);
    other.send(requestText('GET', '/x').replace(GATEWAY_TOKEN, 'nobody'));
    await other.waitForText('HTTP/1.1 401 ');
    other.socket.destroy();
  }
}

test.each([
  ['of known length', 'Content-Length: 10\r\n\r\n12345', '67890', '1234567890'],
  ['chunked', 'Transfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n', '0\r\n\r\n', '5\r\n12345\r\n0\r\n\r\n'],
])('relay: holds the last byte of a body until the usage record is written: %s', async (_kind, first, last, whole) => {
  const held: ((error: Error | null) => void)[] = [];
  gateway.pendingRecords = held;
  const { agent, provider } = await call('GET', '/x');
  provider.send(`HTTP/1.1 200 OK\r\n${first}`);
  await agent.waitForText('12345');
  const begun = agent.text;
  provider.send(last);
  await waitUntil(() => held.length === 1);
  await roundTrips();
  expect(agent.text).toBe(begun);
  held[0]!(null);
  await agent.waitUntil(() => agent.text.endsWith(`\r\n\r\n${whole}`));
});

test.each([
  ['longer', ''],
  ['shorter', '/a/base/path/that/is/longer/than/the/path/of/the/proxy'],
])('relay: omits the provider’s length for a body that an edit makes %s', async (_kind, basePath) => {
  const batches = '/v1/messages/batches';
  const anthropic = createUpstream(upstream.origin, { usageFormat: 'anthropic', basePath });
  gateway.lookup = { context: createContext([anthropic]), rejection: null };
  const { agent, provider } = await call('GET', `${batches}/b`);
  const body = (results: string): string => `{"id":"b","results_url":"${results}${batches}/b/results"}`;
  const theirs = body(`${upstream.origin}${basePath}`);
  provider.send(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${theirs.length}\r\n\r\n`);
  provider.send(theirs.slice(0, 10));
  await agent.waitForText(theirs.slice(0, 10));
  expect(agent.text.toLowerCase()).not.toContain('content-length');
  provider.send(theirs.slice(10));
  await agent.waitForText('\r\n0\r\n\r\n');
  expect(agent.text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain(body('http://gw/v1/proxy/openai'));
});

test('relay: cuts the response off when the record cannot be written', async () => {
  const held: ((error: Error | null) => void)[] = [];
  gateway.pendingRecords = held;
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n0\r\n\r\n');
  await waitUntil(() => held.length === 1);
  held[0]!(new Error('disk full'));
  await agent.waitForClose();
  expect(agent.text).not.toContain('\r\n0\r\n\r\n');
});

test('relay: cuts the agent’s stream off when the upstream aborts', async () => {
  for (const framing of ['Content-Length: 10', 'Transfer-Encoding: chunked']) {
    const { agent, provider } = await call('GET', '/x');
    provider.send(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${framing.startsWith('C') ? '' : '5\r\n'}12345`);
    await agent.waitForText('12345');
    provider.socket.destroy();
    await agent.waitForClose();
    expect(agent.text).not.toContain('\r\n0\r\n\r\n');
    expect(gateway.records.at(-1)).toMatchObject({
      status: 200,
      error: 'upstream_cut',
      bytesOut: 5,
      circuitOutcome: 2,
    });
  }
  expect(gateway.records).toHaveLength(2);
  expect(gateway.server.inflight).toBe(0);
});

/** The gateway closes the provider's connection before the response timeout. */
async function expectEnded(provider: RawPeer): Promise<void> {
  for (let i = 0; i < 20 && !provider.closed; i++) await roundTrips();
  expect(provider.closed).toBe(true);
}

test('relay: aborts the upstream call at once when the agent disconnects', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n');
  await agent.waitForText('12345');
  agent.socket.destroy();
  await expectEnded(provider);
  expect(gateway.records).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ error: 'client_aborted', status: 200, bytesOut: 5, circuitOutcome: 0 });
  expect(gateway.server.inflight).toBe(0);
});

test('relay: writes one record when the agent disconnects before the response head', async () => {
  const { agent, provider } = await call('GET', '/x');
  agent.socket.destroy();
  await expectEnded(provider);
  expect(gateway.records).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ error: 'client_aborted', status: 0, circuitOutcome: 0 });
});

test.each([
  ['HEAD', '200 OK', 'Content-Length: 1234\r\n', 'content-length: 1234'],
  ['GET', '304 Not Modified', 'ETag: "a"\r\n', 'etag: "a"'],
  ['GET', '304 Not Modified', 'Content-Length: 1234\r\n', 'content-length: 1234'],
  ['DELETE', '204 No Content', '', 'x-gateway-request-id'],
])('relay: %s with %s sends no body and keeps the connection usable', async (method, status, headers, expected) => {
  const { agent, provider } = await call(method, '/x', method === 'DELETE' ? 'Content-Length: 0\r\n' : '');
  provider.send(`HTTP/1.1 ${status}\r\n${headers}\r\n`);
  await agent.waitForText('\r\n\r\n');
  expect(agent.text).toContain(`HTTP/1.1 ${status}\r\n`);
  expect(agent.text).toContain(expected);
  expect(agent.text.endsWith('\r\n\r\n')).toBe(true);
  if (method === 'DELETE') expect(agent.text.toLowerCase()).not.toContain('content-length');
  // The next request on the same connection is parsed correctly.
  agent.send(requestText('GET', '/next').replace(GATEWAY_TOKEN, 'nobody'));
  await agent.waitForText('HTTP/1.1 401 ');
});

test('relay: ends an empty body with Content-Length 0 at once', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  await agent.waitForText('Content-Length: 0\r\n\r\n');
  expect(gateway.records).toHaveLength(1);
});

test('relay: drops hop-by-hop headers and cookies, masks the credential, and forwards no header that splits the response', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send(
    `HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nX-Accel-Redirect: /v1/proxy/resend/x\r\nX-Sendfile: /etc/passwd\r\nKeep-Alive: timeout=5\r\nConnection: x-private\r\nX-Private: 1\r\nX-Echo: ${PROVIDER_KEY}\r\nX-Gateway-Request-Id: forged\r\nX-RateLimit-Limit: 9\r\nContent-Length: ${PROVIDER_KEY.length}\r\n\r\n${PROVIDER_KEY}`,
  );
  await agent.waitForText('***');
  const text = agent.text.toLowerCase();
  for (const absent of ['set-cookie', 'x-accel', 'x-sendfile', 'keep-alive', 'x-private', PROVIDER_KEY, 'forged'])
    expect(text).not.toContain(absent);
  expect(text).toContain(`x-echo: ${'*'.repeat(PROVIDER_KEY.length)}\r\n`);
  expect(text).toContain('x-ratelimit-limit: 9\r\n'); // The provider's own figure.
  expect(text).not.toContain('x-ratelimit-limit: 60');
  expect(text).toContain('x-ratelimit-remaining: 59\r\n');
  expect(text).toMatch(/server-timing: gateway;dur=[\d.]+, upstream;dur=[\d.]+\r\n/);
});

test('relay: masks every form of the credential in headers and in a body of any claimed encoding', async () => {
  const { injection } = gateway.lookup.context!.upstreams.get('openai')!;
  const forms = ['cGFzc3dvcmQtMTIzNA==', 'password-1234'];
  gateway.lookup = {
    context: createContext([createUpstream(upstream.origin, { injection: { ...injection, secretForms: forms } })]),
    rejection: null,
  };
  const { agent, provider } = await call('GET', '/x');
  const body = `${forms[0]} and ${forms[1]}`;
  provider.send(`HTTP/1.1 200 OK\r\nX-One: ${forms[0]}\r\nX-Two: ${forms[1]}\r\nContent-Encoding: none\r\n`);
  provider.send(`Content-Length: ${body.length}\r\n\r\n${body}`);
  const [one, two] = forms.map((form) => '*'.repeat(form.length));
  await agent.waitForText(`\r\n\r\n${one} and ${two}`);
  const text = agent.text.toLowerCase();
  expect(text).toContain(`x-one: ${one}\r\n`);
  expect(text).toContain(`x-two: ${two}\r\n`);
});

test('relay: holds the last bytes back, and flushes them when the provider stays idle', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  provider.send(`8\r\necho: sk\r\n`);
  await agent.waitForText('echo: ');
  expect(agent.text).not.toContain('echo: sk');
  await agent.waitForText('\r\n2\r\nsk'); // By the timer alone: the provider sends nothing.
  provider.send(`8\r\n again: \r\n`);
  await agent.waitForText(' again: ');
  for (const piece of [PROVIDER_KEY.slice(0, 4), PROVIDER_KEY.slice(4)]) {
    provider.send(`${piece.length.toString(16)}\r\n${piece}\r\n`);
  }
  provider.send('0\r\n\r\n');
  await agent.waitForText('\r\n0\r\n\r\n');
  expect(agent.text.replaceAll(/\r\n[0-9a-f]+\r\n/g, '')).toContain(` again: ${'*'.repeat(PROVIDER_KEY.length)}`);
});

test.each(['fixed', 'chunked'])(
  'relay: a slow agent holds the upstream back (%s) and gets every byte',
  async (framing) => {
    const piece = Buffer.alloc(64 * 1024);
    for (let i = 0; i < piece.length; i++) piece[i] = i % 251;
    const pieces = 1_000; // 64 MiB, far more than all socket buffers together.
    const { agent, provider } = await call('GET', '/big');
    agent.socket.pause();
    const head = framing === 'fixed' ? `Content-Length: ${piece.length * pieces}` : 'Transfer-Encoding: chunked';
    provider.send(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`);
    let sent = 0;
    const send = (): void => {
      while (sent < pieces) {
        sent++;
        if (framing === 'chunked') provider.socket.write('10000\r\n');
        let open = provider.socket.write(piece);
        if (framing === 'chunked') open = provider.socket.write(sent === pieces ? '\r\n0\r\n\r\n' : '\r\n');
        if (!open) return;
      }
    };
    provider.socket.on('drain', send);
    send();
    await waitUntil(() => provider.socket.writableNeedDrain);
    // Both sides are blocked: neither the provider's socket nor the gateway takes more while the agent does not read.
    let before = -1;
    while (before !== provider.socket.bytesWritten) {
      before = provider.socket.bytesWritten;
      for (let i = 0; i < 200; i++) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(sent).toBeLessThan(pieces);
    const hash = createHash('sha256');
    agent.socket.removeAllListeners('data');
    let bytes = 0;
    const done = new Promise<void>((resolve) => {
      agent.socket.on('data', (chunk) => {
        bytes += chunk.length;
        if (framing === 'fixed') hash.update(chunk);
        if (bytes >= piece.length * pieces) resolve();
      });
    });
    agent.socket.resume();
    await done;
    await waitUntil(() => gateway.records.length === 1);
    expect(gateway.records[0]).toMatchObject({ error: '', bytesOut: piece.length * pieces });
  },
);

test('relay: delivers pending bytes to a slow agent after the upstream has stopped sending', async () => {
  const { agent, provider } = await call('GET', '/burst');
  agent.socket.pause();
  let arrived = 0;
  agent.socket.on('data', (chunk) => {
    for (const byte of chunk) if (byte === 0x78) arrived++;
  });
  provider.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  const piece = 'x'.repeat(65_536);
  const send = (): void => {
    while (provider.socket.write(`10000\r\n${piece}\r\n`)) {}
  };
  send();
  await waitUntil(() => provider.socket.writableNeedDrain);
  provider.socket.removeAllListeners('drain');
  agent.socket.resume();
  await waitUntil(() => provider.socket.writableLength === 0); // Every byte has left the provider, which now waits.
  const sent = Math.floor(provider.socket.bytesWritten / (piece.length + 9));
  await agent.waitUntil(() => arrived >= sent * piece.length);
  provider.send('0\r\n\r\n');
  await agent.waitUntil(() => agent.received.subarray(-5).toString() === '0\r\n\r\n');
});

test('relay: responds 502 when the provider cannot be reached, booked as connect', async () => {
  upstream.stop();
  const agent = await connectRaw(gateway.port);
  agent.send(requestText('GET', '/x'));
  await agent.waitForText('HTTP/1.1 502 Bad Gateway\r\n');
  await agent.waitForText('could not be reached."}');
  expect(gateway.records[0]).toMatchObject({ status: 0, error: 'connect', responseStatus: 502, circuitOutcome: 2 });
});

test('relay: responds 502 when the provider closes without a response, booked as reset', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.socket.destroy();
  await agent.waitForText('HTTP/1.1 502 Bad Gateway\r\n');
  expect(gateway.records[0]).toMatchObject({ error: 'reset', responseStatus: 502 });
});

test('relay: drops informational responses and forwards the final one', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  expect(agent.text.startsWith('HTTP/1.1 200 OK\r\n')).toBe(true);
  expect(agent.text).not.toContain('HTTP/1.1 103');
  expect(gateway.planned).toBe(1);
});

test('settle: adds spend once for a successful call and never for a failed one', async () => {
  gateway.costNanos = 42;
  const good = await call('GET', '/x');
  good.provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  await good.agent.waitForText('\r\n\r\nok');
  const bad = await call('GET', '/x');
  bad.provider.send('HTTP/1.1 500 No\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno');
  await bad.agent.waitForText('\r\n\r\nno');
  expect(gateway.spend).toEqual([['agent-1', 42]]);
  expect(gateway.records.map(({ costNanos, circuitOutcome }) => [costNanos, circuitOutcome])).toEqual([
    [42, 1],
    [0, 2],
  ]);
});

test('drain: inflight calls finish, and the server accepts no new connections', async () => {
  const { agent, provider } = await call('GET', '/x');
  const drained = gateway.server.drain(10_000);
  await expect(connectRaw(gateway.port)).rejects.toThrow();
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await agent.waitForText('\r\n\r\nok');
  await drained;
  expect(gateway.records[0]).toMatchObject({ error: '' });
});

test('relay: announces the end of the connection in the head of a streamed response, not in its body', async () => {
  const { agent, provider } = await call('POST', '/x', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n');
  provider.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n');
  await agent.waitForText('\r\nab');
  provider.send('2\r\ncd\r\n0\r\n\r\n');
  await agent.waitForText('\r\n0\r\n\r\n');
  const [head, body] = agent.text.split('\r\n\r\n2\r\n');
  expect(head).toContain('\r\nconnection: close');
  expect(body).toBe('ab\r\n2\r\ncd\r\n0\r\n\r\n');
});

// All at once: each may end only when the server's idle time has passed.
test('relay: serves nothing after a response that ends its connection', async () => {
  const kinds = [
    ['chunked', '200 OK', 'Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n', '2\r\ncd\r\n0\r\n\r\n', '\r\n0\r\n\r\n'],
    ['of known length', '200 OK', 'Content-Length: 4\r\n\r\nab', 'cd', '\r\n\r\nabcd'],
    ['a whole one', '200 OK', 'Content-Length: 4\r\n\r\nabcd', '', '\r\n\r\nabcd'],
    ['a large whole one', '200 OK', `Content-Length: 40000\r\n\r\n${'x'.repeat(39_999)}y`, '', 'xy'],
    ['without a body', '304 Not Modified', 'ETag: "a"\r\n\r\n', '', '\r\n\r\n'],
  ] as const;
  const calls: { agent: RawPeer; provider: RawPeer }[] = [];
  for (const _ of kinds) calls.push(await call('POST', '/x', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'));
  for (const [n, [kind, status, head, rest, end]] of kinds.entries()) {
    const { agent, provider } = calls[n]!;
    provider.send(`HTTP/1.1 ${status}\r\n${head}`);
    if (rest !== '') {
      await agent.waitForText('ab');
      provider.send(rest);
    }
    await agent.waitUntil(() => agent.text.endsWith(end));
    expect(agent.text.toLowerCase(), kind).toContain('\r\nconnection: close\r\n');
    agent.send(requestText('GET', '/behind'));
  }
  await roundTrips(); // The server would have read the sent bytes by now.
  for (const [n, [kind, , , , end]] of kinds.entries()) {
    expect(calls[n]!.agent.text.endsWith(end), kind).toBe(true);
  }
  for (const { text } of upstream.connections) expect(text).not.toContain('/behind');
  expect(upstream.connections).toHaveLength(kinds.length);
  await Promise.all(calls.map(({ agent }) => agent.waitForClose()));
});

test('drain: aborts calls that do not finish in time and books them as shutdown', async () => {
  const { agent, provider } = await call('GET', '/x');
  provider.send('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok');
  await agent.waitForText('ok');
  await gateway.server.drain(1);
  await agent.waitForClose();
  await provider.waitForClose();
  expect(gateway.records).toHaveLength(1);
  expect(gateway.records[0]).toMatchObject({ error: 'shutdown', status: 200 });
});
