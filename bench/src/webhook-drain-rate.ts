/**
 * `node bench/dist/webhook-drain-rate.js`: 10 000 pending deliveries over 50 endpoints, 5 of which hang: the drain rate of the
 * healthy ones. The reference is the rate at which the same receiver accepts plain signed POSTs from one loop with the
 * same concurrency, i.e. the limit of machine, HTTP client and receiver without a queue. Loopback only, default
 * settings.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openPool } from '@acg/controlplane/db/postgres-client';
import { Stack } from '@acg/test/fixtures/stack';
import { Agent, request } from 'undici';
import { startBenchDatabase } from './bench-database.js';
import { machine } from './report.js';
import { atTeardown, tearDown, tearDownOnSignals } from './teardown.js';

tearDownOnSignals();

const ENDPOINTS = 50;
const HANGING = 5;
const PER_ENDPOINT = 200;
const HEALTHY_TOTAL = (ENDPOINTS - HANGING) * PER_ENDPOINT;

let received = 0;
let hangingOpen = 0;
let hangingOpenMax = 0;
const seen = new Set<string>();
let drained: () => void = () => {};
const receiver = createServer((incoming, response) => {
  incoming.resume();
  if (incoming.url!.startsWith('/hang')) {
    hangingOpenMax = Math.max(hangingOpenMax, ++hangingOpen);
    response.on('close', () => hangingOpen--);
    return;
  }
  incoming.on('end', () => {
    response.writeHead(200).end();
    received++;
    seen.add(String(incoming.headers['x-webhook-delivery']));
    if (seen.size === HEALTHY_TOTAL) drained();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

/** POSTs per second of a plain loop. */
async function reference(): Promise<number> {
  const agent = new Agent({ connections: 64 });
  const body = JSON.stringify({ event: 'agent.created', timestamp: new Date().toISOString(), data: {} });
  let left = 5_000;
  const startedAt = performance.now();
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const signature = createHmac('sha256', 'whsec_reference').update(body).digest('hex');
      const headers = { 'content-type': 'application/json', 'x-webhook-signature': signature };
      const answer = await request(`${receiverUrl}/plain`, { method: 'POST', headers, body, dispatcher: agent });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: 64 }, worker));
  await agent.close();
  return 5_000 / ((performance.now() - startedAt) / 1_000);
}

const database = await startBenchDatabase(['max_connections=100']);
const stack = await Stack.start({
  database: { url: database.url, drop: () => database.stop() },
  env: { LOG_LEVEL: 'warn' },
});
const stopStack = atTeardown(() => stack.stop());
const sql = openPool(database.url, { connectionsMax: 1, applicationName: 'bench' });
try {
  const referencePerSecond = await reference();
  received = 0;
  seen.clear();
  const tenant = await stack.signUpTenant();
  for (let i = 0; i < ENDPOINTS; i++) {
    const path = i < HANGING ? `/hang-${i}` : `/fine-${i}`;
    const answer = await tenant.call('POST', '/v1/webhooks', { url: receiverUrl + path, events: ['agent.created'] });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  }
  // Queued while the endpoints are paused, so that all deliveries exist when the measurement starts.
  await sql`update webhook_endpoints set status = 'paused'`;
  await sql`
    insert into webhook_deliveries (id, endpoint_id, org_id, event_id, event, payload)
    select gen_random_uuid(), e.id, e.org_id, gen_random_uuid(), 'agent.created',
           '{"event":"agent.created","timestamp":"2026-01-01T00:00:00.000Z","data":{}}'
      from webhook_endpoints e, generate_series(1, ${PER_ENDPOINT})`;
  const done = new Promise<void>((resolve) => {
    drained = resolve;
  });
  const startedAt = performance.now();
  await sql`update webhook_endpoints set status = 'active'`;
  await sql`select pg_notify('webhooks', '')`;
  await done;
  const seconds = (performance.now() - startedAt) / 1_000;
  const perSecond = HEALTHY_TOTAL / seconds;
  console.log('machine', machine());
  console.table([
    {
      pending: ENDPOINTS * PER_ENDPOINT,
      endpoints: ENDPOINTS,
      hanging: HANGING,
      healthyPerSecond: Math.round(perSecond),
      seconds: Number(seconds.toFixed(1)),
      duplicates: received - seen.size,
      hangingConnectionsMax: hangingOpenMax,
      referencePerSecond: Math.round(referencePerSecond),
      ratio: Number((perSecond / referencePerSecond).toFixed(2)),
    },
  ]);
  if (perSecond < 200) process.exitCode = 1;
} finally {
  await sql.end();
  receiver.closeAllConnections();
  receiver.close();
  await stopStack();
  await tearDown();
}
