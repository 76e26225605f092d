/** Provides the gateway token of a run: an existing one, else one that is created for the run and revoked after it. */
import { hostname } from 'node:os';
import { findAgent, requireAgentName } from '../api/find-agent.js';
import { createApiClient } from '../invocation/api-client-with-timeout-and-retry.js';
import { GATEWAY_TOKEN } from '../invocation/data-plane-client.js';
import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES, toCliError, usage } from '../terminal/cli-error.js';

export interface GatewayToken {
  readonly token: string;
  /** `exchanged`: for the token of the workload, by a trust rule. */
  readonly source: 'environment' | 'saved' | 'minted' | 'exchanged';
  /** Null for a token from the environment or of an exchange, whose id is unknown. */
  readonly keyId: string | null;
  /** Id of the agent that the token must belong to; null for any agent. */
  readonly agentId: string | null;
}

/** Time limit in ms: the user waits for it. */
const REVOKE_TIMEOUT_MS = 10_000;

/**
 * Runs `work` with the gateway token. A saved token that the gateway rejects has been revoked or has expired: it is
 * forgotten, and `work` runs again with a new token.
 */
export async function withGatewayToken<T>(
  run: Invocation,
  { agent, ttlMs }: { readonly agent: string | undefined; readonly ttlMs: number },
  work: (token: GatewayToken) => Promise<T>,
): Promise<T> {
  const token = await obtainGatewayToken(run, agent, ttlMs);
  try {
    return await work(token);
  } catch (error) {
    if (token.source !== 'saved' || toCliError(error).exitCode !== EXIT_CODES.unauthenticated) throw error;
    run.profiles.forgetGatewayToken(token.keyId!);
    run.printNote('acg: the saved gateway token has been revoked or has expired: a new one takes its place');
    return work(await mintGatewayToken(run, token.agentId!, ttlMs));
  }
}

async function obtainGatewayToken(run: Invocation, agent: string | undefined, ttlMs: number): Promise<GatewayToken> {
  const given = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (given !== undefined && given !== '') {
    if (!GATEWAY_TOKEN.test(given)) throw usage('ACG_GATEWAY_TOKEN is no gateway token');
    return { token: given, source: 'environment', keyId: null, agentId: null };
  }
  const { id } = await findAgent(run, requireAgentName(run, agent));
  const saved = run.profiles.readCredentials().gatewayTokens[run.settings.profile]?.[id];
  if (saved !== undefined) return { ...saved, source: 'saved', agentId: id };
  return mintGatewayToken(run, id, ttlMs);
}

async function mintGatewayToken(run: Invocation, agentId: string, ttlMs: number): Promise<GatewayToken> {
  const client = await run.getClient();
  const name = `acg run on ${hostname().replaceAll(/[^\w.-]/g, '-') || 'unknown'}`.slice(0, 200);
  const expiresAt = new Date(Date.now() + ttlMs).toISOString();
  const answer = await client
    .post('/v1/api-keys', { body: { name, scope: 'agent', agentId, expiresAt } })
    .catch((error: unknown) => {
      const failure = toCliError(error);
      if (failure.exitCode !== EXIT_CODES.forbidden) throw failure;
      throw new CliError(EXIT_CODES.forbidden, 'your role cannot create gateway tokens', {
        hint: 'ask an admin for one, and put it into ACG_GATEWAY_TOKEN',
      });
    });
  return { token: answer.secretKey, source: 'minted', keyId: answer.key.id, agentId };
}

/** Revokes a token that was created for a run. A failure is reported; the token then expires on its own. */
export async function revokeMintedToken(run: Invocation, { source, keyId }: GatewayToken): Promise<void> {
  if (source !== 'minted' || keyId === null) return;
  try {
    const client = createApiClient({ url: run.settings.url, token: run.token, timeoutMs: REVOKE_TIMEOUT_MS });
    await client.delete('/v1/api-keys/{id}', { params: { path: { id: keyId } } });
  } catch (error) {
    const failure = toCliError(error);
    if (failure.exitCode === EXIT_CODES.notFound) return; // already revoked
    run.printNote(`acg: the token could not be revoked (${failure.message}): acg keys revoke ${keyId}`);
  }
}
