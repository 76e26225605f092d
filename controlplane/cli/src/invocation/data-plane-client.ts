/** Calls the data plane as an agent does. All other calls go to the management API. */

import { validateUrl } from '../settings/validate-url.js';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import type { Invocation } from './invocation.js';

const TIMEOUT_MS = 15_000;
export const GATEWAY_TOKEN = /^acg_[0-9a-f]{64}$/;

/** Response of `GET /v1/self`, reduced to the fields that are used here. */
export interface AgentSelf {
  readonly agent: { readonly id: string; readonly name: string; readonly slug: string; readonly status: string };
  readonly providers: readonly {
    readonly slug: string;
    readonly status: string;
    readonly circuit: string;
    /** False: a provider of the organization. Missing from gateways of an older release. */
    readonly builtIn?: boolean;
    /** An MCP server. Missing from gateways of an older release. */
    readonly mcp?: boolean;
  }[];
}

/** Returns the URL for agents' calls: from the user's settings, else from the gateway's configuration. */
export async function resolveGatewayUrl(run: Invocation): Promise<string> {
  const { gatewayUrl, url } = run.settings;
  if (gatewayUrl !== null) return gatewayUrl;
  const { proxyUrl } = await run.createPublicClient().get('/v1/config');
  if (proxyUrl === null) {
    throw new CliError(EXIT_CODES.failed, `${url} does not publish a URL for agents`, {
      hint: 'set ACG_GATEWAY_URL, or DATAPLANE_PUBLIC_URL at the control plane',
    });
  }
  const insecure = run.flags.insecureHttp === true || run.terminal.env.ACG_INSECURE_HTTP === '1';
  return validateUrl(proxyUrl, 'the gateway for agents', insecure);
}

/** Returns status and limits of the gateway token's agent. */
export async function fetchSelf(gatewayUrl: string, token: string, signal?: AbortSignal): Promise<AgentSelf> {
  const body = await callGateway<AgentSelf>(gatewayUrl, token, 'GET', '/v1/self', { signal });
  if (body.agent !== undefined && body.providers !== undefined) return body as AgentSelf;
  throw new CliError(EXIT_CODES.failed, `the gateway ${gatewayUrl} responds with 200: not a response of a gateway`);
}

/** Starts a run with a gateway token: a sub-run where the token is that of a run. */
export async function startRunAsAgent(
  gatewayUrl: string,
  token: string,
  fields: { readonly budgetCents: number; readonly expiresIn: number; readonly label?: string },
): Promise<{ readonly secretKey: string; readonly run: { readonly id: string } }> {
  const { secretKey, run } = await callGateway<{ secretKey: string; run: { id: string } }>(
    gatewayUrl,
    token,
    'POST',
    '/v1/runs',
    { body: JSON.stringify(fields) },
  );
  if (secretKey !== undefined && run !== undefined) return { secretKey, run };
  throw new CliError(EXIT_CODES.failed, `the gateway ${gatewayUrl} started no run`);
}

/** Ends the run of the token, or one below it. */
export async function endRunAsAgent(gatewayUrl: string, token: string, id: string): Promise<void> {
  await callGateway(gatewayUrl, token, 'DELETE', `/v1/runs/${encodeURIComponent(id)}`, {});
}

async function callGateway<Body>(
  gatewayUrl: string,
  token: string,
  method: string,
  path: string,
  { body, signal }: { readonly body?: string; readonly signal?: AbortSignal | undefined },
): Promise<Partial<Body>> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${gatewayUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body }),
    redirect: 'error',
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch((error: Error) => {
    throw new CliError(EXIT_CODES.failed, `no response from the gateway ${gatewayUrl}: ${describeCause(error)}`, {
      hint: 'acg doctor',
    });
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Body> & { readonly error?: string };
  if (response.ok) return answer;
  const { status } = response;
  const exitCode =
    status === 401 ? EXIT_CODES.unauthenticated : status === 403 ? EXIT_CODES.forbidden : EXIT_CODES.failed;
  throw new CliError(
    exitCode,
    `the gateway ${gatewayUrl} responds with ${status}: ${answer.error ?? 'not a response of a gateway'}`,
    { status },
  );
}

/** Returns the milliseconds until a data plane responds. Only the form of the response matters, not its status. */
export async function probeGateway(gatewayUrl: string): Promise<number> {
  const start = performance.now();
  const response = await fetch(`${gatewayUrl}/v1/self`, {
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new CliError(EXIT_CODES.failed, `no response from the gateway ${gatewayUrl}: ${describeCause(error)}`, {
      hint: 'acg doctor',
    });
  });
  await response.body?.cancel();
  if (response.headers.has('x-gateway-request-id')) return Math.round(performance.now() - start);
  throw new CliError(EXIT_CODES.failed, `${gatewayUrl} is not a data plane: it responds with ${response.status}`);
}

const describeCause = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);
