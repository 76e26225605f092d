/** What a hostile tenant does to the data plane, each until it is told to stop. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Stack, Tenant } from '@acg/test/stack';
import { call } from './neighbour.js';

export interface Attack {
  stop(): Promise<void>;
}

/** Of the attacker, who is another host. */
const ATTACKERS_ADDRESS = '127.0.0.2';

/** So many workers, each going on with the next as soon as one is over. */
function loop(workers: number, pauseMs: number, work: () => Promise<unknown>): Attack {
  let running = true;
  const worker = async (): Promise<void> => {
    while (running) {
      await work();
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const all = Array.from({ length: workers }, worker);
  return {
    async stop() {
      running = false;
      await Promise.all(all);
    },
  };
}

async function serve(
  answer: (path: string, respond: (headers: object, body: Buffer) => void) => void,
): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request.url ?? '', (headers, body) => void response.writeHead(200, headers as never).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function ownProvider(tenant: Tenant, server: Server): Promise<string> {
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const fields = { slug: 'mine', displayName: 'Mine', baseUrl, authType: 'bearer', usageFormat: 'openai' };
  const made = await tenant.call('POST', '/v1/custom-providers', fields);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  const { id } = await tenant.agent({ rpmLimit: 1_000_000 });
  await tenant.account(id, 'mine', { apiKey: 'sk-mine-0123456789' });
  return tenant.token(id);
}

/** Answers of a few bytes that unfold to 64 MiB, ten a second. */
export async function bombs(stack: Stack, url: string): Promise<Attack> {
  const bomb = gzipSync(Buffer.alloc(64 << 20));
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const server = await serve((_path, respond) => respond(headers, bomb));
  const token = await ownProvider(await stack.tenant(), server);
  const attack = loop(1, 100, () => call(url, token, '/v1/proxy/mine/v1/chat/completions', ATTACKERS_ADDRESS));
  return {
    async stop() {
      await attack.stop();
      server.close();
    },
  };
}

/** As many calls as are let in, to a provider that never answers; what is refused comes back after its Retry-After. */
export async function holdCalls(stack: Stack, url: string, workers: number): Promise<Attack> {
  const server = await serve(() => {});
  const token = await ownProvider(await stack.tenant(), server);
  const attack = loop(workers, 1_000, () => call(url, token, '/v1/proxy/mine/v1/chat/completions', ATTACKERS_ADDRESS));
  return {
    async stop() {
      const ended = attack.stop();
      server.closeAllConnections();
      const timer = setInterval(() => server.closeAllConnections(), 100);
      await ended;
      clearInterval(timer);
      server.close();
    },
  };
}

/** Tokens that do not exist, each once. */
export function madeUpTokens(url: string, workers: number): Attack {
  const token = (): string => `acg_${randomBytes(32).toString('hex')}`;
  return loop(workers, 0, () => call(url, token(), '/v1/self', ATTACKERS_ADDRESS));
}
