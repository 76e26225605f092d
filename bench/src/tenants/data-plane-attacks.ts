/** Attacks of a hostile tenant on the data plane, each until it is stopped. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Stack, Tenant } from '@acg/test/fixtures/stack';
import { type Attack, startAttacker } from './attacker-thread.js';

const CHAT = ['/v1/proxy/mine/v1/chat/completions'];

async function serve(
  respond: (path: string, answer: (headers: object, body: Buffer) => void) => void,
): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    respond(request.url ?? '', (headers, body) => void response.writeHead(200, headers as never).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function ownProvider(tenant: Tenant, server: Server): Promise<string> {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fields = { slug: 'mine', displayName: 'Mine', baseUrl, authType: 'bearer', usageFormat: 'openai' };
  const made = await tenant.call('POST', '/v1/custom-providers', fields);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const { id } = await tenant.createAgent({ rpmLimit: 1_000_000 });
  await tenant.createAccount(id, 'mine', { apiKey: 'sk-mine-0123456789' });
  return tenant.createToken(id);
}

/** Calls with a valid token to the attacker's own provider; stopping the attack stops that provider. */
async function throughProvider(server: Server, stack: Stack, url: string, load: object): Promise<Attack> {
  const token = await ownProvider(await stack.signUpTenant(), server);
  const attack = startAttacker({ url, paths: CHAT, token, workers: 1, pauseMs: 0, ...load });
  return {
    async stop() {
      await attack.stop();
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Responses of a few bytes that decompress to 64 MiB, ten per second. */
export async function bombs(stack: Stack, url: string): Promise<Attack> {
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const server = await serve((_path, answer) => answer(headers, bomb));
  return throughProvider(server, stack, url, { pauseMs: 100 });
}

/**
 * As many calls as are admitted, to a provider that never responds; a rejected call is retried after its Retry-After.
 */
export async function holdCalls(stack: Stack, url: string, workers: number): Promise<Attack> {
  return throughProvider(await serve(() => {}), stack, url, { workers, pauseMs: 1_000 });
}

/** Nonexistent tokens, each used once. */
export const madeUpTokens = (url: string, workers: number): Attack =>
  startAttacker({ url, paths: ['/v1/self'], token: null, workers, pauseMs: 0 });
