/** The fleet's breakers: reports of data planes open and close them, and a manual override takes precedence. */
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { fileURLToPath } from 'node:url';
import { BreakerTransitionWriter } from '@acg/controlplane/breaker/breaker-transition-writer';
import { FleetBreakers } from '@acg/controlplane/breaker/fleet-unreachability-breakers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../fixtures/free-port.js';
import { Stack, type Tenant } from '../fixtures/stack.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { log, newOrigin, RULES, useBreakers } from './breaker-fixture.js';

describe('fleet breaker on a database', () => {
  const circuits = useBreakers();
  let origin: string;
  let fleet: FleetBreakers;

  beforeEach(async () => {
    origin = newOrigin();
    fleet = new FleetBreakers(circuits.sql(), new BreakerTransitionWriter(RULES, log), [
      { providerSlug: 'openai', origin },
    ]);
    await circuits.sql()`delete from data_planes`;
  });

  const connected = (...ids: string[]) => circuits.sql()`
    insert into data_planes (id, counters, control_plane_id, connection_id, version)
    select id, 'redis', 'cp', gen_random_uuid(), '1' from unnest(${ids}::text[]) id`;
  const says = (id: string, unreachable: boolean, ageMs = 0) =>
    fleet.recordContacts(id, [{ origin, ageMs, unreachable }]);
  const state = async () => {
    await fleet.evaluate();
    return (await circuits.stateOf(`openai|${origin}`)).state;
  };

  test('fleet breaker: opens when no connected data plane can connect, closes when one can; all organizations get the events', async () => {
    const [account, another] = [await circuits.organization(), await circuits.organization()];
    await connected('a', 'b', 'c');
    await says('a', true);
    expect(await state()).toBeUndefined(); // one of three: the fault of that data plane
    await says('b', true);
    expect(await state()).toBe('OPEN');
    await says('c', false);
    expect(await state()).toBe('CLOSED');
    for (const org of [account, another]) {
      expect(await circuits.eventsOf(org)).toMatchObject([
        { event: 'provider.circuit_opened', data: { scope: 'fleet', requests: 2, errorRate: 100 } },
        { event: 'provider.circuit_closed', data: { scope: 'fleet' } },
      ]);
    }
  });

  test('fleet breaker: a single data plane decides for the fleet; reports older than half a minute do not count', async () => {
    await connected('a');
    await says('a', true, 31_000);
    expect(await state()).toBeUndefined();
    await says('a', true, 29_000);
    expect(await state()).toBe('OPEN');
    await circuits.sql()`update origin_contacts set contact_at = now() - interval '31 seconds'`;
    expect(await state()).toBe('CLOSED');
  });

  test('fleet breaker: a manual override holds it open or closed without an event; afterwards reports decide again', async () => {
    const org = await circuits.organization();
    await connected('a');
    expect(await fleet.override('openai', 'OPEN', 60_000)).toBe(true);
    await says('a', false);
    expect(await state()).toBe('OPEN');
    await fleet.override('openai', 'CLOSED', 60_000);
    await says('a', true);
    expect(await state()).toBe('CLOSED');
    expect(await circuits.eventsOf(org)).toEqual([]);
    await fleet.override('openai', 'CLOSED', 0);
    expect(await state()).toBe('OPEN');
    expect(await fleet.override('supabase', 'OPEN', 60_000)).toBe(false);
  });
});

describe('fleet breaker with real processes', () => {
  const COMMAND = fileURLToPath(new URL('../../../controlplane/dist/override-fleet-circuit/main.js', import.meta.url));
  let stack: Stack;
  let port: number;
  let provider: Server | null = null;
  let url: string;
  let busy: Caller;
  let quiet: Caller;

  interface Caller {
    readonly tenant: Tenant;
    call(): Promise<number>;
  }

  beforeAll(async () => {
    port = await freePort();
    // Keeps the breakers of organizations closed.
    const env = { LOG_LEVEL: 'warn', CIRCUIT_MIN_REQUESTS: '1000000' };
    stack = await Stack.start({ providers: { openai: `http://127.0.0.1:${port}` }, env });
    ({ url } = await stack.addDataPlane());
    [busy, quiet] = [await caller(), await caller()];
  });
  afterAll(async () => {
    await stack?.stop();
    stopProvider();
  });

  async function caller(): Promise<Caller> {
    const tenant = await stack.signUpTenant();
    const agent = await tenant.createAgent({ rpmLimit: 100_000 });
    const token = await tenant.createToken(agent.id);
    await tenant.createAccount(agent.id, 'openai', { apiKey: 'sk-real-0123456789' });
    const headers = { authorization: `Bearer ${token}` };
    return { tenant, call: async () => (await fetch(`${url}/v1/proxy/openai/v1/models`, { headers })).status };
  }

  async function startProvider(): Promise<void> {
    const server = createServer((_request, response) => void response.end('{}'));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    provider = server;
  }

  function stopProvider(): void {
    provider?.closeAllConnections();
    provider?.close();
    provider = null;
  }

  const status = async (): Promise<string> => {
    const { body } = await stack.call('GET', '/v1/status', null);
    return body.providers.find((one: { slug: string }) => one.slug === 'openai').state;
  };

  /** Does not block this process, which would not see that the data plane closes an idle connection meanwhile. */
  function command(...args: string[]): Promise<{ code: number | null; out: string }> {
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: stack.database.url.reveal(),
      PROVIDERS_FILE: `${stack.home}/providers.json`,
    };
    return new Promise((resolve) => {
      const child = execFile(process.execPath, [COMMAND, ...args], { env }, (_error, out) =>
        resolve({ code: child.exitCode, out }),
      );
    });
  }

  test('fleet breaker: an unreachable provider opens it for all organizations, and it recovers by itself', async () => {
    await startProvider();
    expect([await busy.call(), await quiet.call()]).toEqual([200, 200]);
    stopProvider();
    await waitUntil('calls are rejected', async () => (await busy.call()) === 503);
    await waitUntil('the fleet’s breaker is open', async () => {
      const [circuit] = (await quiet.tenant.call('GET', '/v1/circuits')).body.circuits;
      return circuit.state === 'OPEN' && circuit.reason === 'connect';
    });
    expect(await quiet.call()).toBe(503); // it has not made a single failing call
    expect(await status()).toBe('OPEN');
    await startProvider();
    await waitUntil('calls pass again', async () => (await quiet.call()) === 200);
    await waitUntil('the fleet’s breaker is closed', async () => {
      return (await quiet.tenant.call('GET', '/v1/circuits')).body.circuits[0].state === 'CLOSED';
    });
    const { events } = (await quiet.tenant.call('GET', '/v1/events')).body;
    expect(events.map((one: { event: string }) => one.event).filter((name: string) => name.startsWith('prov'))).toEqual(
      ['provider.circuit_closed', 'provider.circuit_opened'],
    );
  });

  test('fleet breaker: the operator’s command holds it open and releases it', async () => {
    if (provider === null) await startProvider();
    expect((await command('openai', 'open', '25h')).code).toBe(64);
    expect((await command('supabase', 'open')).code).toBe(64);
    const held = await command('openai', 'open', '2h');
    expect(held).toMatchObject({ code: 0, out: expect.stringContaining('calls to openai are rejected until ') });
    await waitUntil('calls are rejected', async () => (await quiet.call()) === 503);
    expect((await command('openai', 'release')).code).toBe(0);
    await waitUntil('calls pass', async () => (await quiet.call()) === 200);
  });
});
