/** The one client of /v1, with what a program at a terminal wants: bounded waits, a second try where the API asks for it. */
import { type Client, createClient } from '@acg/client/client';
import { EXIT, Failure } from '../failure.js';
import { VERSION } from '../version.js';

const TIMEOUT_MS = 60_000;
const TRIES = 4;
/** Who is told to wait longer than that hears so instead. */
const WAIT_MAX_S = 20;

interface Address {
  readonly url: string;
  readonly token: string | null;
  /** Of one try. */
  readonly timeoutMs?: number;
}

export function connect({ url, token, timeoutMs = TIMEOUT_MS }: Address): Client {
  return createClient({
    baseUrl: url,
    token: token ?? undefined,
    headers: { 'user-agent': `acg/${VERSION} (${process.platform}; node ${process.versions.node})` },
    fetch: (request) => patientFetch(request, timeoutMs),
  });
}

/** What is refused with 429 has done nothing, so any method may be sent again. */
async function patientFetch(request: Request, timeoutMs: number): Promise<Response> {
  for (let tries = 1; ; tries++) {
    const response = await fetch(request.clone(), { redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
    if (response.status >= 300 && response.status < 400) throw redirected(request.url, response);
    const waitS = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (response.status !== 429 || tries === TRIES || !(waitS <= WAIT_MAX_S)) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, Math.max(1, waitS) * 1_000));
  }
}

/** Followed, it would take the body, which may hold a credential, to wherever the answer says. */
function redirected(url: string, response: Response): Failure {
  const { origin } = new URL(url);
  return new Failure(EXIT.failed, `${origin} answers with a redirection to ${response.headers.get('location')}`, {
    hint: '--url with the address that it leads to',
  });
}
