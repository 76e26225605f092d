/**
 * Creates the client of /v1 for a command line: waits are bounded, and requests are retried when the API asks for it.
 */
import { type Client, createClient } from '@acg/client/typed-api-client-throwing-errors';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import type { SavedSessionToken } from './saved-session-token.js';
import { VERSION } from './version.js';

const TIMEOUT_MS = 60_000;
const ATTEMPTS_MAX = 4;
/** A longer Retry-After is reported instead of waited for. */
const RETRY_AFTER_MAX_S = 20;

/** Of every response of a data plane, and of no other. */
export const AGENT_PORT_HEADER = 'x-gateway-request-id';

export const agentPortError = (url: string): CliError =>
  new CliError(EXIT_CODES.usage, `${url} is the port of agents, not the management API`, {
    hint: '--url with the address of the dashboard, e.g. http://127.0.0.1:8080',
  });

interface ApiClientOptions {
  readonly url: string;
  readonly token: string | SavedSessionToken | null;
  /** Time limit of one attempt in ms. */
  readonly timeoutMs?: number;
}

export function createApiClient({ url, token, timeoutMs = TIMEOUT_MS }: ApiClientOptions): Client {
  const send = (request: Request) => fetchWithRetry(request, timeoutMs);
  const saved = token === null || typeof token === 'string' ? null : token;
  return createClient({
    baseUrl: url,
    token: typeof token === 'string' ? token : undefined,
    headers: { 'user-agent': `acg/${VERSION} (${process.platform}; node ${process.versions.node})` },
    fetch: saved === null ? send : (request) => fetchWithSavedToken(saved, request, send),
  });
}

/** Retries once with the saved token: another process may have renewed it and retired the previous one. */
async function fetchWithSavedToken(
  saved: SavedSessionToken,
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const signed = async () => {
    const copy = request.clone();
    copy.headers.set('authorization', `Bearer ${await saved.getToken()}`);
    return send(copy);
  };
  const response = await signed();
  if (response.status !== 401 || !saved.reloadIfReplaced()) return response;
  await response.body?.cancel();
  return signed();
}

/** A 429 has had no effect, so any method may be retried. */
async function fetchWithRetry(request: Request, timeoutMs: number): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(request.clone(), { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    if (response.status >= 300 && response.status < 400) throw redirectError(request.url, response);
    if (response.headers.has(AGENT_PORT_HEADER)) throw agentPortError(new URL(request.url).origin);
    const waitS = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (response.status !== 429 || tries === ATTEMPTS_MAX || !(waitS <= RETRY_AFTER_MAX_S)) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, waitS) * 1_000));
  }
}

/** Redirects are not followed: the body may contain a credential and would be sent to the new location. */
function redirectError(url: string, response: Response): CliError {
  const { origin } = new URL(url);
  return new CliError(
    EXIT_CODES.failed,
    `${origin} answers with a redirection to ${response.headers.get('location')}`,
    {
      hint: 'use --url with the address that it redirects to',
    },
  );
}
