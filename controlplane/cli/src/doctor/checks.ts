/** What `acg doctor` looks at, in the order in which a call needs it. */
import { lookup } from 'node:dns/promises';
import { everyRow } from '@acg/client/every-row';
import { findAgentId } from '../api/agents.js';
import { identityLine, whoIs } from '../api/identity.js';
import type { Invocation } from '../invocation/invocation.js';
import { gatewayUrlOf, probeGateway, readSelf } from '../run/gateway.js';
import { secretVariables } from '../run/provider-variables.js';
import { failureOf } from '../terminal/failure.js';

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** Null: nothing to do. */
  readonly fix: string | null;
}

/** Beyond it, sessions and signatures are taken for old or not yet valid. */
const CLOCK_OFF_MAX_MS = 60_000;

async function check(name: string, fix: string, work: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, detail: await work(), fix: null };
  } catch (error) {
    const { message, hint } = failureOf(error);
    return { name, ok: false, detail: message, fix: hint === undefined || hint === 'acg doctor' ? fix : hint };
  }
}

export async function* controlPlaneChecks(run: Invocation): AsyncGenerator<Check> {
  const { url, token } = run.settings;
  yield await check('name', 'is the address right? --url, ACG_URL', async () => {
    const { hostname } = new URL(url);
    const { address } = await lookup(hostname.replace(/^\[|\]$/g, ''));
    return `${hostname} is ${address}`;
  });
  let clockOffMs = 0;
  yield await check('control plane', 'is it running? npm start, or its log', async () => {
    const response = await fetch(`${url}/readyz`, { redirect: 'error', signal: AbortSignal.timeout(15_000) });
    clockOffMs = Math.abs(Date.now() - Date.parse(response.headers.get('date') ?? new Date().toUTCString()));
    if (!response.ok) throw new Error(`${url}/readyz answers ${response.status}`);
    return `${url} is ready`;
  });
  yield await check('clock', 'set this machine’s clock', async () => {
    if (clockOffMs > CLOCK_OFF_MAX_MS) throw new Error(`${Math.round(clockOffMs / 1_000)} s from the gateway’s`);
    return 'like the gateway’s';
  });
  yield await check('session', 'acg login', async () => {
    const me = await whoIs(await run.client());
    return `${identityLine(me)}${token?.startsWith('acgm_') === true ? ', management token' : ''}`;
  });
}

export async function* gatewayChecks(run: Invocation, agent: string | undefined): AsyncGenerator<Check> {
  let gatewayUrl: string | null = null;
  yield await check('data plane', 'is it running, and is DATAPLANE_PUBLIC_URL its address?', async () => {
    const address = await gatewayUrlOf(run);
    const latencyMs = await probeGateway(address);
    gatewayUrl = address;
    return `${address} answers in ${latencyMs} ms`;
  });
  const gatewayToken = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (gatewayUrl !== null && gatewayToken) {
    const address = gatewayUrl;
    yield await check('gateway token', 'acg keys create --agent … --name …', async () => {
      const { agent: own, providers } = await readSelf(address, gatewayToken);
      if (own.status !== 'active') throw new Error(`the agent ${own.slug} is ${own.status}`);
      return `${own.slug} may use ${providers.map(({ slug }) => slug).join(', ') || 'no provider'}`;
    });
  }
  if (agent !== undefined) yield* accountChecks(run, agent);
}

async function* accountChecks(run: Invocation, agent: string): AsyncGenerator<Check> {
  const client = await run.client();
  const agentId = await findAgentId(run, agent);
  const accounts = everyRow(
    (query) => client.get('/v1/providers/accounts', { params: { query: { agentId, ...query } } }),
    (page) => page.accounts,
  );
  for await (const { id, providerSlug } of accounts) {
    yield await check(`key of ${providerSlug}`, `acg accounts rotate ${id}`, async () => {
      const answer = await client.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } });
      const status = answer.status ?? 'no answer';
      if (!answer.ok) throw new Error(`${status}${answer.hint === null ? '' : `: ${answer.hint}`}`);
      return `taken (${status} in ${answer.latencyMs} ms)`;
    });
  }
}

/** What would lead a program that is started from here past the gateway. */
export async function* environmentChecks(run: Invocation): AsyncGenerator<Check> {
  const { env } = run.terminal;
  const secrets = secretVariables().filter((name) => env[name] !== undefined && !env[name]!.startsWith('acg_'));
  yield await check('variables', 'unset them, or start programs with acg run', async () => {
    if (secrets.length > 0) throw new Error(`${secrets.join(', ')}: programs here can call providers past the gateway`);
    return 'no key of a provider';
  });
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'].find((name) => env[name]);
  if (proxy !== undefined) {
    yield await check('proxy', 'put the gateway’s host into NO_PROXY', async () => {
      if (!env.NO_PROXY && !env.no_proxy) throw new Error(`${proxy} is set: programs may reach the gateway through it`);
      return `${proxy} and NO_PROXY are set`;
    });
  }
}
