/** All targets of the call of scenario 1: the gateway, its references, and the provider itself. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { freePort } from '@acg/test/fixtures/free-port';
import { type Child, startChild } from '../child-process.js';
import { type GatewayStack, startRedis, waitForRecordedUsage } from '../gateway-stack.js';
import { PROVIDER_PATH, PROXY_PATH, REQUEST_BODY } from '../scenario-request.js';
import type { Provider } from '../start-mock-provider.js';
import { ADMIT_SCRIPT, luaAvailable, nginxAvailable, startLuaNginx, startPlainNginx } from './nginx.js';
import { installPortkey, portkeyHeaders, startPortkey } from './portkey.js';

export interface Candidate {
  readonly name: string;
  /** URL of the call. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Name → roots of the summed process trees. `proxy` is the process that responds. */
  readonly processes: Readonly<Record<string, readonly number[]>>;
  /** Resolves when the follow-up work of the calls is done. */
  waitForBacklog(): Promise<void>;
  stop(): Promise<void>;
}

interface Candidates {
  readonly list: readonly Candidate[];
  /** Name of a skipped reference → reason. */
  readonly skipped: Readonly<Record<string, string>>;
}

/** The control plane records the usage of the calls; on few cores that takes longer than the calls. */
const SETTLE_TIMEOUT_MS = 15_000;
const nothing = async (): Promise<void> => {};

/** Starts all available candidates; skips the others with a reason. */
export async function startComparisonTargets(gateway: GatewayStack, provider: Provider): Promise<Candidates> {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const list: Candidate[] = [gatewayCandidate(gateway, headers)];
  const skipped: Record<string, string> = {};
  const attempt = async (name: string, problem: string | null, start: () => Promise<Candidate>): Promise<void> => {
    try {
      if (problem !== null) throw new Error(problem);
      const candidate = await start();
      list.push(candidate);
      await expectProviderAnswer(candidate);
    } catch (error) {
      skipped[name] = (error as Error).message;
      if (list.at(-1)!.name === name) await list.pop()!.stop();
    }
  };
  await attempt('nginx + Lua + Redis', luaAvailable() ? null : 'not installed', () => startLua(provider, headers));
  await attempt('nginx', nginxAvailable() ? null : 'not installed', () => startNginx(provider, headers));
  await attempt('Fastify reply-from', null, () => fastifyReplyFrom(provider, headers));
  await attempt('Portkey', await installPortkey(), async () => {
    const { url, child } = await startPortkey(provider);
    return simple('Portkey', `${url}/chat/completions`, { ...headers, ...portkeyHeaders(provider) }, child);
  });
  await expectProviderAnswer(list[0]!);
  const direct = `${provider.origin}${PROVIDER_PATH}`;
  list.push({ name: 'direct', url: direct, headers, processes: {}, waitForBacklog: nothing, stop: nothing });
  return { list, skipped };
}

function gatewayCandidate(gateway: GatewayStack, headers: Candidate['headers']): Candidate {
  return {
    name: 'gateway',
    url: `${gateway.url}${PROXY_PATH}`,
    headers,
    processes: {
      proxy: [gateway.dataPlane.pid],
      redis: [gateway.redis.pid],
      controlPlane: [gateway.stack.controlPlane.pid],
      postgres: [gateway.postgresPid],
    },
    async waitForBacklog() {
      if (!(await waitForRecordedUsage(gateway, SETTLE_TIMEOUT_MS))) console.error('usage is still being recorded');
    },
    stop: nothing,
  };
}

/** A port that leads to a Redis, whose replies come this much later. */
export async function startDelayingProxy(redisPort: number, delayUs: number): Promise<{ child: Child; port: number }> {
  const port = await freePort();
  const script = fileURLToPath(new URL('../load/delaying-proxy.js', import.meta.url));
  const args = [script, String(port), String(redisPort), String(delayUs)];
  return { child: await startChild('delaying proxy', process.execPath, args, port), port };
}

/** `storeDelayUs`: how much later the replies of its Redis come. */
export async function startLua(
  provider: Provider,
  headers: Candidate['headers'],
  storeDelayUs = 0,
): Promise<Candidate> {
  const redis = await startRedis();
  const proxy = storeDelayUs === 0 ? null : await startDelayingProxy(redis.port, storeDelayUs);
  const load = ['-p', String(redis.port), 'script', 'load', ADMIT_SCRIPT];
  const sha = execFileSync('redis-cli', load).toString().trim();
  const { url, child } = await startLuaNginx(provider.port, proxy?.port ?? redis.port, sha);
  return {
    name: 'nginx + Lua + Redis',
    url: `${url}${PROVIDER_PATH}`,
    headers,
    processes: { proxy: [child.pid], redis: [redis.child.pid] },
    waitForBacklog: nothing,
    async stop() {
      await child.stop();
      await proxy?.child.stop();
      await redis.child.stop();
    },
  };
}

/** Without any checks. */
export async function startNginx(provider: Provider, headers: Candidate['headers']): Promise<Candidate> {
  const { url, child } = await startPlainNginx(provider.port);
  return simple('nginx', `${url}${PROVIDER_PATH}`, headers, child);
}

/** Its own process, without any checks. */
export async function fastifyReplyFrom(provider: Provider, headers: Candidate['headers']): Promise<Candidate> {
  const port = await freePort();
  const script = fileURLToPath(new URL('./fastify-reply-from.js', import.meta.url));
  const args = [script, String(port), provider.origin];
  const child = await startChild('fastify', process.execPath, args, port, provider.trust);
  return simple('Fastify reply-from', `http://127.0.0.1:${port}${PROVIDER_PATH}`, headers, child);
}

function simple(
  name: string,
  url: string,
  headers: Candidate['headers'],
  child: { readonly pid: number; stop(): Promise<void> },
): Candidate {
  return { name, url, headers, processes: { proxy: [child.pid] }, waitForBacklog: nothing, stop: () => child.stop() };
}

/** A reference with another response than the provider's would measure nothing. */
async function expectProviderAnswer({ name, url, headers }: Candidate): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: REQUEST_BODY,
  });
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes('chatcmpl-bench')) {
    throw new Error(`${name} responds with ${answer.status} ${text.slice(0, 80)}`);
  }
}
