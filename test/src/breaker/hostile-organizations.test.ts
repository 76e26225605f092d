/**
 * A hostile organization at a shared provider stops its own calls only: with failing calls, stalled uploads and bad
 * probes without end. Runs a gateway of real processes.
 */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stack } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** The provider is healthy: it responds with 500 to invalid calls and closes slow uploads without a response. */
const UPLOAD_TIMEOUT_MS = 50;
let provider: Server;
let stack: Stack;
let url: string;

interface Organization {
  /** Makes a call that succeeds. */
  good(): Promise<number>;
  /** Makes a call to which the provider responds with 500. */
  bad(): Promise<number>;
  /** Begins an upload and sends no more; resolves when the gateway has closed it. */
  stalls(): Promise<void>;
  /** State of the organization's own breaker. */
  circuit(): Promise<string>;
}

beforeAll(async () => {
  provider = createServer((request, response) => {
    const slow = setTimeout(() => request.socket.destroy(), UPLOAD_TIMEOUT_MS);
    request.resume();
    request.on('error', () => {});
    request.on('close', () => clearTimeout(slow));
    request.on('end', () => {
      clearTimeout(slow);
      response.writeHead(request.url!.includes('broken') ? 500 : 200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  stack = await Stack.start({
    providers: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    env: { CIRCUIT_COOLDOWN_MS: '300', LOG_LEVEL: 'warn' },
  });
  ({ url } = await stack.addDataPlane());
});
afterAll(async () => {
  await stack?.stop();
  provider.closeAllConnections();
  provider.close();
});

async function createOrganization(): Promise<Organization> {
  const tenant = await stack.signUpTenant();
  const agent = await tenant.createAgent({ rpmLimit: 100_000, rpdLimit: 1_000_000 });
  const authorization = `Bearer ${await tenant.createToken(agent.id)}`;
  await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
  const call = async (path: string): Promise<number> => {
    const response = await fetch(`${url}/v1/proxy/openai/v1/${path}`, { headers: { authorization } });
    await response.arrayBuffer();
    return response.status;
  };
  const { hostname, port } = new URL(url);
  return {
    good: () => call('models'),
    bad: () => call('models/broken'),
    stalls: () =>
      new Promise((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          const head = `POST /v1/proxy/openai/v1/files HTTP/1.1\r\nhost: gw\r\nauthorization: ${authorization}\r\n`;
          socket.write(`${head}content-type: application/octet-stream\r\ncontent-length: 200000\r\n\r\n`);
          socket.write('x'.repeat(70_000));
        });
        socket.on('error', () => {});
        socket.on('data', () => socket.destroy());
        socket.on('close', () => resolve());
      }),
    circuit: async () => (await tenant.call('GET', '/v1/circuits')).body.circuits[0].state,
  };
}

const createOrganizations = (count: number): Promise<Organization[]> =>
  Promise.all(Array.from({ length: count }, () => createOrganization()));

/** Statuses of the honest organizations' calls while `attack` runs. */
async function callDuringAttack(
  honest: readonly Organization[],
  attack: () => Promise<void>,
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const round = async (): Promise<void> => {
    for (const status of await Promise.all(honest.map((one) => one.good())))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  let over = false;
  const attacking = attack().finally(() => {
    over = true;
  });
  do await round();
  while (!over);
  await attacking;
  await round();
  return statuses;
}

test.each([1, 3, 10])(
  'hostile organizations: with %i honest organizations, none of their good calls is rejected',
  async (count) => {
    const honest = await createOrganizations(count);
    const [fresh, used, other, uploader] = (await createOrganizations(4)) as [
      Organization,
      Organization,
      Organization,
      Organization,
    ];
    // Two hostile organizations have an earlier success; the honest ones make a call now and then.
    for (const one of [used, other, ...honest]) expect(await one.good()).toBe(200);
    for (const one of [used, other]) await Promise.all(Array.from({ length: 40 }, () => one.bad()));
    await waitUntil('their own breakers are open', async () => {
      const states = await Promise.all([used, other].map((one) => one.circuit()));
      return states.every((state) => state !== 'CLOSED');
    });
    for (const one of honest) expect(await one.good()).toBe(200);
    const failing = await callDuringAttack(honest, async () => {
      await Promise.all(Array.from({ length: 40 }, () => fresh.bad()));
      await waitUntil('its own breaker is open', async () => (await fresh.circuit()) !== 'CLOSED');
    });
    const stalled = await callDuringAttack(honest, async () => {
      await Promise.all(Array.from({ length: 24 }, () => uploader.stalls()));
    });
    // More than eight calls per second, which take every probe slot of their breakers.
    let probes = 0;
    const holding = await callDuringAttack(honest, async () => {
      await waitUntil('bad probes have opened the breakers again', async () => {
        for (const one of [fresh, used]) if ((await one.bad()) === 500) probes++;
        return probes >= 6;
      });
    });
    for (const statuses of [failing, stalled, holding]) expect([...statuses.keys()]).toEqual([200]);
    for (const one of honest) expect(await one.circuit()).toBe('CLOSED');
    // A stalled upload does not count as a failure: the uploader's own calls pass.
    expect([await uploader.good(), await uploader.circuit()]).toEqual([200, 'CLOSED']);
    expect(await fresh.circuit()).not.toBe('CLOSED');
    // /v1/status counts an organization only after a success, so the fresh signup is not counted.
    const { body } = await stack.call('GET', '/v1/status', null);
    const openai = body.providers.find((one: { slug: string }) => one.slug === 'openai');
    expect(openai.state).not.toBe('OPEN');
  },
);
