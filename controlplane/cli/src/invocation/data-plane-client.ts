/** The data plane, as an agent sees it: the only calls that do not go to the management API. */

import { validateUrl } from '../settings/validate-url.js';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import type { Invocation } from './invocation.js';

const TIMEOUT_MS = 15_000;

/** Of `GET /v1/self`; what is not used here is left out. */
export interface AgentSelf {
  readonly agent: { readonly id: string; readonly name: string; readonly slug: string; readonly status: string };
  readonly providers: readonly { readonly slug: string; readonly status: string; readonly circuit: string }[];
}

/** Where agents call: as the caller says, else as the gateway says of itself. */
export async function resolveGatewayUrl(run: Invocation): Promise<string> {
  const { gatewayUrl, url } = run.settings;
  if (gatewayUrl !== null) return gatewayUrl;
  const { proxyUrl } = await run.createPublicClient().get('/v1/config');
  if (proxyUrl === null) {
    throw new CliError(EXIT_CODES.failed, `${url} does not say where agents call`, {
      hint: 'ACG_GATEWAY_URL, or DATAPLANE_PUBLIC_URL at the control plane',
    });
  }
  const insecure = run.flags.insecureHttp === true || run.terminal.env.ACG_INSECURE_HTTP === '1';
  return validateUrl(proxyUrl, 'the gateway for agents', insecure);
}

/** How the agent of that gateway token stands. */
export async function fetchSelf(gatewayUrl: string, token: string, signal?: AbortSignal): Promise<AgentSelf> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${gatewayUrl}/v1/self`, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch((error: Error) => {
    throw new CliError(EXIT_CODES.failed, `no answer from the gateway ${gatewayUrl}: ${describeCause(error)}`, {
      hint: 'acg doctor',
    });
  });
  const body = (await response.json().catch(() => ({}))) as Partial<AgentSelf> & { readonly error?: string };
  if (response.ok && body.agent !== undefined && body.providers !== undefined) return body as AgentSelf;
  const { status } = response;
  const exitCode =
    status === 401 ? EXIT_CODES.unauthenticated : status === 403 ? EXIT_CODES.forbidden : EXIT_CODES.failed;
  throw new CliError(
    exitCode,
    `the gateway ${gatewayUrl} says ${status}: ${body.error ?? 'not the answer of a gateway'}`,
    {
      status,
    },
  );
}

/** Milliseconds until a data plane answers there; what it answers does not matter, but for that it is one. */
export async function probeGateway(gatewayUrl: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${gatewayUrl}/v1/self`, {
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new CliError(EXIT_CODES.failed, `no answer from the gateway ${gatewayUrl}: ${describeCause(error)}`, {
      hint: 'acg doctor',
    });
  });
  await response.body?.cancel();
  if (response.headers.has('x-gateway-request-id')) return Math.round(performance.now() - start);
  throw new CliError(EXIT_CODES.failed, `${gatewayUrl} is no data plane: it answers ${response.status}`);
}

const describeCause = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);
