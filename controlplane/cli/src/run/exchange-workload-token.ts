/**
 * Exchanges the workload's token for a gateway token, and renews it while the program runs. The gateway token stays the
 * same, because a running program cannot get another one. Nothing is stored.
 */
import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import type { GatewayToken } from './gateway-token.js';
import { findWorkloadToken, type WorkloadTokenSource } from './workload-token.js';

const OPERATION = 'POST /v1/token';
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt';
const TIMEOUT_MS = 30_000;
/** After a failed renewal. */
const RETRY_MS = 15_000;

export interface TrustRuleOptions {
  readonly trustRule?: string;
  readonly tokenFile?: string;
  readonly audience?: string;
}

interface Exchanged {
  readonly token: string;
  readonly lifetimeMs: number;
}

export class WorkloadGatewayToken {
  #timer: NodeJS.Timeout | null = null;

  private constructor(
    readonly run: Invocation,
    readonly ruleId: string,
    readonly source: WorkloadTokenSource,
    readonly exchanged: Exchanged,
  ) {}

  /** Throws when the platform gives no token or the gateway rejects it. */
  static async obtain(run: Invocation, ruleId: string, options: TrustRuleOptions): Promise<WorkloadGatewayToken> {
    const audience = options.audience ?? `${run.settings.url}/trust-rules/${ruleId.toLowerCase()}`;
    const source = findWorkloadToken(run.terminal.env, options.tokenFile, audience);
    return new WorkloadGatewayToken(run, ruleId, source, await exchange(run, ruleId, await source.read(), null));
  }

  get token(): GatewayToken {
    return { token: this.exchanged.token, source: 'exchanged', keyId: null, agentId: null };
  }

  /** Renews the token after half of its life, until {@link stopRenewing}. */
  startRenewing(): void {
    this.#schedule(this.exchanged.lifetimeMs / 2);
  }

  stopRenewing(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#renew(), delayMs).unref();
  }

  async #renew(): Promise<void> {
    const timer = this.#timer;
    let delayMs = RETRY_MS;
    try {
      const { lifetimeMs } = await exchange(this.run, this.ruleId, await this.source.read(), this.exchanged.token);
      delayMs = lifetimeMs / 2;
    } catch (error) {
      this.run.printNote(`acg: the gateway token was not renewed: ${(error as Error).message}`);
    }
    if (this.#timer === timer) this.#schedule(delayMs);
  }
}

async function exchange(run: Invocation, ruleId: string, token: string, renewed: string | null): Promise<Exchanged> {
  const { url } = run.settings;
  const [method, path] = OPERATION.split(' ');
  const response = await fetch(url + path, {
    method: method!,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: GRANT_TYPE,
      trust_rule: ruleId,
      subject_token: token,
      subject_token_type: JWT_TYPE,
      ...(renewed === null ? {} : { renew_token: renewed }),
    }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: Error) => {
    throw new CliError(EXIT_CODES.failed, `no response from ${url}: ${error.message}`, { hint: 'acg doctor' });
  });
  const body = (await response.json().catch(() => ({}))) as {
    readonly access_token?: string;
    readonly expires_in?: number;
    readonly error?: string;
    readonly error_description?: string;
  };
  if (response.ok && body.access_token !== undefined && body.expires_in !== undefined)
    return { token: body.access_token, lifetimeMs: body.expires_in * 1_000 };
  const { status } = response;
  const text = body.error_description ?? body.error ?? 'not a response of a gateway';
  throw new CliError(
    status === 400 ? EXIT_CODES.unauthenticated : EXIT_CODES.failed,
    `the token of the workload is not accepted (${status}): ${text}`,
    { status, hint: `acg trust-rules show ${ruleId}` },
  );
}
