/** The data plane, as an agent sees it: the only calls that do not go to the management API. */

import type { Invocation } from '../invocation/invocation.js';
import { checkedUrl } from '../settings/address.js';
import { EXIT, Failure } from '../terminal/failure.js';

const TIMEOUT_MS = 15_000;

/** Of `GET /v1/self`; what is not used here is left out. */
export interface Self {
  readonly agent: { readonly id: string; readonly name: string; readonly slug: string; readonly status: string };
  readonly providers: readonly { readonly slug: string; readonly status: string; readonly circuit: string }[];
}

/** Where agents call: as the caller says, else as the gateway says of itself. */
export async function gatewayUrlOf(run: Invocation): Promise<string> {
  const { gatewayUrl, url } = run.settings;
  if (gatewayUrl !== null) return gatewayUrl;
  const { proxyUrl } = await run.publicClient().get('/v1/config');
  if (proxyUrl === null) {
    throw new Failure(EXIT.failed, `${url} does not say where agents call`, {
      hint: 'ACG_GATEWAY_URL, or DATAPLANE_PUBLIC_URL at the control plane',
    });
  }
  const insecure = run.flags.insecureHttp === true || run.terminal.env.ACG_INSECURE_HTTP === '1';
  return checkedUrl(proxyUrl, 'the gateway for agents', insecure);
}

/** How the agent of that gateway token stands. */
export async function readSelf(gatewayUrl: string, token: string, signal?: AbortSignal): Promise<Self> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(`${gatewayUrl}/v1/self`, {
    headers: { authorization: `Bearer ${token}` },
    redirect: 'error',
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch((error: Error) => {
    throw new Failure(EXIT.failed, `no answer from the gateway ${gatewayUrl}: ${causeOf(error)}`, {
      hint: 'acg doctor',
    });
  });
  const body = (await response.json().catch(() => ({}))) as Partial<Self> & { readonly error?: string };
  if (response.ok && body.agent !== undefined && body.providers !== undefined) return body as Self;
  const { status } = response;
  const exitCode = status === 401 ? EXIT.unauthenticated : status === 403 ? EXIT.forbidden : EXIT.failed;
  throw new Failure(
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
    throw new Failure(EXIT.failed, `no answer from the gateway ${gatewayUrl}: ${causeOf(error)}`, {
      hint: 'acg doctor',
    });
  });
  await response.body?.cancel();
  if (response.headers.has('x-gateway-request-id')) return Math.round(performance.now() - start);
  throw new Failure(EXIT.failed, `${gatewayUrl} is no data plane: it answers ${response.status}`);
}

const causeOf = (error: Error): string => (error.cause instanceof Error ? error.cause.message : error.message);
