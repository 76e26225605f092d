/** A misbehaving receiver costs one bounded slot and nothing else. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Member, startControlPlane, useControlPlane } from '../fixtures/control-plane.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { type Receiver, startReceiver } from './webhook-receiver.js';

// One retry after an hour, so that a failed attempt can be inspected.
const plane = useControlPlane({ WEBHOOK_RETRY_DELAYS_MS: '3600000', WEBHOOK_TIMEOUT_MS: '400' });
let receiver: Receiver;
const tcpServers: Server[] = [];
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.close();
  for (const server of tcpServers) server.close();
});

async function sendAndAwaitOutcome(url: string, admin?: Member) {
  const owner = admin ?? (await plane().createMember('admin'));
  const { body } = await owner.call('POST', '/v1/webhooks', { url, events: ['agent.created'] });
  const sent = await owner.call('POST', `/v1/webhooks/${body.endpoint.id}/test`);
  return waitUntil('the delivery was attempted', async () => {
    const answer = await owner.call('GET', `/v1/webhooks/deliveries/${sent.body.delivery.id}`);
    return answer.body.delivery.attempts > 0 && answer.body.delivery;
  });
}

async function startTcpServer(onConnection: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  tcpServers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

test('receiver: one that never responds fails with a timeout', async () => {
  receiver.on('/hang', () => {});
  expect(await sendAndAwaitOutcome(`${receiver.url}/hang`)).toMatchObject({
    status: 'pending',
    error: 'timeout',
    statusCode: null,
  });
  await waitUntil('its connection is closed', () => receiver.open() === 0);
});

test('receiver: a redirect is a failure and is not followed', async () => {
  receiver.on('/moved', (response) => response.writeHead(307, { location: `${receiver.url}/target` }).end());
  expect(await sendAndAwaitOutcome(`${receiver.url}/moved`)).toMatchObject({ error: 'redirect', statusCode: '307' });
  expect(receiver.received.filter((one) => one.path === '/target')).toEqual([]);
});

test('receiver: a response byte by byte is aborted at the timeout', async () => {
  const url = await startTcpServer((socket) => {
    const answer = `HTTP/1.1 200 OK\r\nx-slow: ${'a'.repeat(4_000)}\r\n\r\n`;
    let sent = 0;
    const timer = setInterval(() => socket.write(answer[sent++]!), 20);
    socket.on('close', () => clearInterval(timer));
  });
  expect(await sendAndAwaitOutcome(url)).toMatchObject({ error: 'timeout', statusCode: null });
});

test('receiver: an endless body does not change the status and is not read', async () => {
  let written = 0;
  let closed = false;
  receiver.on('/huge', (response) => {
    response.on('close', () => {
      closed = true;
    });
    response.writeHead(200);
    const chunk = Buffer.alloc(65_536, 'x');
    const pump = (): void => {
      while (!closed) {
        written += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', pump);
      }
    };
    pump();
  });
  expect(await sendAndAwaitOutcome(`${receiver.url}/huge`)).toMatchObject({ status: 'success', statusCode: '200' });
  await waitUntil('the receiver was cut off', () => closed);
  expect(written).toBeLessThan(16 << 20); // the buffers of the kernel
});

test('receiver: a slow body does not change the status', async () => {
  receiver.on('/trickle', (response) => {
    response.writeHead(202);
    const timer = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(timer));
  });
  expect(await sendAndAwaitOutcome(`${receiver.url}/trickle`)).toMatchObject({ status: 'success', statusCode: '202' });
  await waitUntil('its connection is closed', () => receiver.open() === 0);
});

test('receiver: resets, closed ports, unknown names and invalid responses have their error classes', async () => {
  const reset = await startTcpServer((socket) => socket.once('data', () => socket.destroy()));
  expect(await sendAndAwaitOutcome(reset)).toMatchObject({ error: 'reset' });
  const nonsense = await startTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-nonsense\r\n\r\n')));
  expect(await sendAndAwaitOutcome(nonsense)).toMatchObject({ error: 'protocol' });
  const gone = await startTcpServer(() => {});
  await new Promise((resolve) => tcpServers.at(-1)!.close(resolve));
  expect(await sendAndAwaitOutcome(gone)).toMatchObject({ error: 'connect' });
});

test('receiver: unresolvable names have class dns, untrusted certificates class tls', async () => {
  // The timeout of production: slow steps must not end as timeouts.
  const patient = await startControlPlane({ WEBHOOK_RETRY_DELAYS_MS: '3600000' });
  try {
    const admin = await patient.createMember('admin');
    // A name with a too long label is not sent to a resolver.
    const nowhere = `https://${'a'.repeat(64)}.example.com/`;
    expect(await sendAndAwaitOutcome(nowhere, admin)).toMatchObject({
      status: 'pending',
      error: 'dns',
      statusCode: null,
    });
    let bytes = 0;
    const secure = createTlsServer(createSelfSignedCertificate(), (socket) => {
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
    });
    secure.on('tlsClientError', () => {});
    tcpServers.push(secure);
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const url = `https://127.0.0.1:${(secure.address() as { port: number }).port}/`;
    expect(await sendAndAwaitOutcome(url, admin)).toMatchObject({ status: 'pending', error: 'tls', statusCode: null });
    expect(bytes).toBe(0);
    const plain = receiver.url.replace('http:', 'https:');
    expect(await sendAndAwaitOutcome(plain, admin)).toMatchObject({ error: 'tls', statusCode: null });
  } finally {
    await patient.stop();
  }
});

function createSelfSignedCertificate(): { cert: Buffer; key: Buffer } {
  const home = mkdtempSync(join(tmpdir(), 'acg-receiver-'));
  const [cert, key] = [join(home, 'crt'), join(home, 'key')];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...curve, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  const files = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(home, { recursive: true });
  return files;
}

test('receiver: an address that has become private is rejected at connect', async () => {
  const strict = await startControlPlane({ EGRESS_ALLOW_CIDRS: '', WEBHOOK_RETRY_DELAYS_MS: '3600000' });
  try {
    const admin = await strict.createMember('admin');
    const rejected = await admin.call('POST', '/v1/webhooks', { url: `${receiver.url}/x`, events: ['agent.created'] });
    expect(rejected.status).toBe(400);
    const created = await admin.call('POST', '/v1/webhooks', {
      url: 'https://example.com/',
      events: ['agent.created'],
    });
    const { id } = created.body.endpoint;
    // As if the name had been changed to another address after the endpoint was saved.
    for (const url of [`${receiver.url}/private`, 'http://localhost:8080/private', 'http://[::1]:8080/private']) {
      await strict.database.sql`update webhook_endpoints set url = ${url} where id = ${id}`;
      const { body } = await admin.call('POST', `/v1/webhooks/${id}/test`);
      const delivery = await waitUntil('it was attempted', async () => {
        const answer = await admin.call('GET', `/v1/webhooks/deliveries/${body.delivery.id}`);
        return answer.body.delivery.attempts > 0 && answer.body.delivery;
      });
      expect(delivery, url).toMatchObject({ error: 'address_refused', statusCode: null });
    }
    expect(receiver.received.filter((one) => one.path === '/private')).toEqual([]);
  } finally {
    await strict.stop();
  }
});

test('receiver: hanging receivers occupy few slots, and the others get all of their deliveries meanwhile', async () => {
  // Attempts of this control plane take longer than the test.
  const slow = await startControlPlane({ WEBHOOK_TIMEOUT_MS: '60000' });
  try {
    const admin = await slow.createMember('admin');
    const hanging = await Promise.all([1, 2, 3].map((i) => endpointWithBacklog(admin, `/stuck-${i}`, 300)));
    for (const path of hanging) receiver.on(path, () => {});
    const healthy = await Promise.all([1, 2, 3, 4, 5].map((i) => endpointWithBacklog(admin, `/fine-${i}`, 60)));
    await slow.database.sql`select pg_notify('webhooks', '')`;
    const at = (path: string) => receiver.received.filter((one) => one.path === path).length;
    await waitUntil('the healthy ones have everything', () => healthy.every((path) => at(path) === 60));
    for (const path of hanging) expect(at(path)).toBeLessThanOrEqual(4);
  } finally {
    await slow.stop();
  }

  async function endpointWithBacklog(admin: Member, path: string, count: number): Promise<string> {
    const { body } = await admin.call('POST', '/v1/webhooks', { url: receiver.url + path, events: ['agent.created'] });
    await slow.database.sql`
      insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload, next_attempt_at)
      select gen_random_uuid(), ${body.endpoint.id}, ${admin.orgId}, gen_random_uuid(), 'agent.created', '{}',
             now() - interval '1 hour' from generate_series(1, ${count})`;
    return path;
  }
});

test('receiver: shutdown releases the leases of unfinished deliveries at once', async () => {
  const first = await startControlPlane({ WEBHOOK_TIMEOUT_MS: '60000' });
  const admin = await first.createMember('admin');
  const { sql } = first.database;
  receiver.on('/stop', () => {});
  const { body } = await admin.call('POST', '/v1/webhooks', { url: `${receiver.url}/stop`, events: ['agent.created'] });
  const { body: sent } = await admin.call('POST', `/v1/webhooks/${body.endpoint.id}/test`);
  await waitUntil('it is under way', () => receiver.received.some((one) => one.path === '/stop'));
  receiver.on('/stop', (response) => response.writeHead(200).end());
  await first.service.stop();
  const [row] = await sql`
    select status, attempts, lease, next_attempt_at <= now() as due from webhook_deliveries
     where id = ${sent.delivery.id}`;
  expect(row).toEqual({ status: 'pending', attempts: 0, lease: null, due: true });
  const second = await startControlPlane({}, first.database);
  await waitUntil('the next one delivers it', async () => {
    const [now] = await sql`select status from webhook_deliveries where id = ${sent.delivery.id}`;
    return now!.status === 'success';
  });
  await second.stop();
  await first.database.drop();
});
