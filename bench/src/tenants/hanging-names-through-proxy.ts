/**
 * Names whose server never responds, through the proxy: a neighbour whose calls each open a connection to one of twenty
 * names, and an attacker with forty providers whose names never resolve.
 */
import { createServer } from 'node:http';
import { NameServer } from '@acg/base/dns/testing/name-server-fixture';
import type { Stack, Tenant } from '@acg/test/fixtures/stack';
import { type Attack, startAttacker } from './attacker-thread.js';

const NEIGHBOURS_NAMES = 20;
const DEAD_NAMES = 40;
/** Providers may use a few ports only; on its own IP this one is free. */
const PORT = 8080;
const HOST = '127.0.1.80';

interface SlowNames {
  readonly url: string;
  readonly token: string;
  readonly paths: readonly string[];
  begin(): Attack;
  stop(): void;
}

export async function startHangingNames(stack: Stack): Promise<SlowNames> {
  const names = await NameServer.start({});
  names.ttlSec = 5;
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end('{}');
  });
  await new Promise<void>((resolve) => receiver.listen(PORT, HOST, resolve));
  const preload = new URL(`./name-server-override.js?${names.address}`, import.meta.url);
  const { url } = await stack.addDataPlane({ NODE_OPTIONS: `--import ${preload.href}` });
  const [neighbour, attacker] = [await stack.signUpTenant(), await stack.signUpTenant()];
  for (let i = 0; i < NEIGHBOURS_NAMES; i++) names.zone[`host-${i}.good.example.com`] = [HOST];
  const good = await providers(neighbour, NEIGHBOURS_NAMES, (i) => `http://host-${i}.good.example.com:${PORT}`);
  const dead = await providers(attacker, DEAD_NAMES, (i) => `http://dead-${i}.example.net:${PORT}`);
  return {
    url,
    ...good,
    begin: () => startAttacker({ url, ...dead, workers: DEAD_NAMES, pauseMs: 0 }),
    stop() {
      names.stop();
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

async function providers(
  tenant: Tenant,
  count: number,
  baseUrl: (i: number) => string,
): Promise<{ token: string; paths: readonly string[] }> {
  const { id } = await tenant.createAgent({ rpmLimit: 1_000_000 });
  const paths: string[] = [];
  for (let i = 0; i < count; i++) {
    const fields = { slug: `mine-${i}`, displayName: 'Mine', baseUrl: baseUrl(i), authType: 'bearer' };
    const made = await tenant.call('POST', '/v1/custom-providers', { ...fields, usageFormat: 'openai' });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    await tenant.createAccount(id, fields.slug, { apiKey: 'sk-mine-0123456789' });
    paths.push(`/v1/proxy/${fields.slug}/v1/chat/completions`);
  }
  return { token: await tenant.createToken(id), paths };
}
