/** The checks of `acg doctor`, in the order in which a call depends on them. */
import { lookup } from 'node:dns/promises';
import { UnreachableError } from '@acg/client/api-errors';
import { fetchAllRows } from '../api/call-api-operation.js';
import { findAgentId } from '../api/find-agent.js';
import { fetchIdentity, formatIdentity } from '../api/identity.js';
import { AGENT_PORT_HEADER, agentPortError } from '../invocation/api-client-with-timeout-and-retry.js';
import { fetchSelf, probeGateway, resolveGatewayUrl } from '../invocation/data-plane-client.js';
import type { Invocation } from '../invocation/invocation.js';
import { listSecretVariables } from '../run/provider-variables.js';
import { toCliError, usage } from '../terminal/cli-error.js';

export interface CheckResult {
  readonly name: string;
  /** Null: not checked, because a check that it depends on has failed. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** Null when nothing needs to be done. */
  readonly fix: string | null;
}

/** With a larger clock difference, sessions and signatures count as expired or not yet valid. */
const CLOCK_SKEW_MAX_MS = 60_000;

async function runCheck(name: string, fix: string, work: () => Promise<string>): Promise<CheckResult> {
  try {
    return { name, ok: true, detail: await work(), fix: null };
  } catch (error) {
    const { message, hint } = toCliError(error);
    return { name, ok: false, detail: message, fix: hint === undefined || hint === 'acg doctor' ? fix : hint };
  }
}

const skippedCheck = (name: string, reason: string): CheckResult => ({
  name,
  ok: null,
  detail: `not checked: ${reason}`,
  fix: null,
});

/** OpenSSL's codes for a peer that answers TLS with something else. */
const SPEAKS_NO_TLS = /^ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/;

export async function* checkControlPlane(run: Invocation): AsyncGenerator<CheckResult> {
  const { url, token } = run.settings;
  yield await runCheck('name', 'is the address right? --url, ACG_URL', async () => {
    const { hostname } = new URL(url);
    const { address } = await lookup(hostname.replace(/^\[|\]$/g, ''));
    return `${hostname} is ${address}`;
  });
  let gatewayDate: string | null = null;
  yield await runCheck('control plane', 'is it running? npm start, or its log', async () => {
    const address = `${url}/readyz`;
    const options = { redirect: 'error', signal: AbortSignal.timeout(15_000) } as const;
    const response = await fetch(address, options).catch((cause: Error) => {
      if (SPEAKS_NO_TLS.test(String((cause.cause as NodeJS.ErrnoException | undefined)?.code)))
        throw usage(`${address} does not speak TLS`, `--url ${url.replace('https:', 'http:')}`);
      throw new UnreachableError(address, 'no answer', { cause });
    });
    if (response.headers.has(AGENT_PORT_HEADER)) throw agentPortError(url);
    gatewayDate = response.headers.get('date');
    if (!response.ok) throw new Error(`${address} responds with ${response.status}`);
    return `${url} is ready`;
  });
  if (gatewayDate === null) {
    yield skippedCheck('clock', 'the control plane has not answered');
    yield skippedCheck('session', 'the control plane has not answered');
    return;
  }
  const clockSkewMs = Math.abs(Date.now() - Date.parse(gatewayDate));
  yield await runCheck('clock', 'set this machine’s clock', async () => {
    if (clockSkewMs > CLOCK_SKEW_MAX_MS)
      throw new Error(`${Math.round(clockSkewMs / 1_000)} s off the gateway’s clock`);
    return 'like the gateway’s';
  });
  yield await runCheck('session', 'acg login', async () => {
    const me = await fetchIdentity(await run.getClient());
    return `${formatIdentity(me)}${token?.startsWith('acgm_') === true ? ', management token' : ''}`;
  });
}

/** `isReachable`: the control plane has answered. */
export async function* checkDataPlane(
  run: Invocation,
  { agent, isReachable }: { readonly agent: string | undefined; readonly isReachable: boolean },
): AsyncGenerator<CheckResult> {
  if (!isReachable && run.settings.gatewayUrl === null) {
    yield skippedCheck('data plane', 'only the control plane knows its address (or ACG_GATEWAY_URL)');
    return;
  }
  let gatewayUrl: string | null = null;
  yield await runCheck('data plane', 'is it running, and is DATAPLANE_PUBLIC_URL its address?', async () => {
    const address = await resolveGatewayUrl(run);
    const latencyMs = await probeGateway(address);
    gatewayUrl = address;
    return `${address} answers in ${latencyMs} ms`;
  });
  const gatewayToken = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (gatewayUrl !== null && gatewayToken) {
    const address = gatewayUrl;
    yield await runCheck('gateway token', 'acg keys create --agent … --name …', async () => {
      const { agent: own, providers } = await fetchSelf(address, gatewayToken);
      if (own.status !== 'active') throw new Error(`the agent ${own.slug} is ${own.status}`);
      return `${own.slug} may use ${providers.map(({ slug }) => slug).join(', ') || 'no provider'}`;
    });
  }
  if (agent === undefined) return;
  if (isReachable) yield* checkAccounts(run, agent);
  else yield skippedCheck(`keys of ${agent}`, 'the control plane has not answered');
}

async function* checkAccounts(run: Invocation, agent: string): AsyncGenerator<CheckResult> {
  const client = await run.getClient();
  const agentId = await findAgentId(run, agent);
  const accounts = await fetchAllRows(client, 'GET /v1/providers/accounts', 'accounts', { agentId });
  for (const { id, providerSlug } of accounts) {
    yield await runCheck(`key of ${providerSlug}`, `acg accounts rotate ${id}`, async () => {
      const answer = await client.post('/v1/providers/accounts/{id}/test', { params: { path: { id } } });
      const status = answer.status ?? 'no answer';
      if (!answer.ok) throw new Error(`${status}${answer.hint === null ? '' : `: ${answer.hint}`}`);
      return `taken (${status} in ${answer.latencyMs} ms)`;
    });
  }
}

/** Checks for variables that would lead a program started here past the gateway. */
export async function* checkEnvironment(run: Invocation): AsyncGenerator<CheckResult> {
  const { env } = run.terminal;
  const secrets = listSecretVariables().filter((name) => env[name] !== undefined && !env[name]!.startsWith('acg_'));
  yield await runCheck('variables', 'unset them, or start programs with acg run', async () => {
    if (secrets.length > 0) throw new Error(`${secrets.join(', ')}: programs started here can bypass the gateway`);
    return 'no key of a provider';
  });
  const proxy = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY'].find((name) => env[name]);
  if (proxy !== undefined) {
    yield await runCheck('proxy', 'put the gateway’s host into NO_PROXY', async () => {
      if (!env.NO_PROXY && !env.no_proxy) throw new Error(`${proxy} is set: programs may reach the gateway through it`);
      return `${proxy} and NO_PROXY are set`;
    });
  }
}
