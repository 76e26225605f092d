/** The gateway token of a run: one that is there already, else one made for it that ends with it. */
import { hostname } from 'node:os';
import { findAgent, wantedAgent } from '../api/agents.js';
import { connect } from '../invocation/connect.js';
import type { Invocation } from '../invocation/invocation.js';
import { EXIT, Failure, failureOf, usage } from '../terminal/failure.js';

export interface GatewayToken {
  readonly token: string;
  readonly source: 'environment' | 'saved' | 'minted';
  /** Null: from the environment, where nobody says which key it is. */
  readonly keyId: string | null;
  /** The id that the token must be of; null: whichever it is. */
  readonly agentId: string | null;
}

/** Whoever waits for the command waits for this, too. */
const REVOKE_TIMEOUT_MS = 10_000;
const TOKEN = /^acg_[0-9a-f]{64}$/;

export async function gatewayToken(run: Invocation, agent: string | undefined, ttlMs: number): Promise<GatewayToken> {
  const given = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (given !== undefined && given !== '') {
    if (!TOKEN.test(given)) throw usage('ACG_GATEWAY_TOKEN is no gateway token');
    return { token: given, source: 'environment', keyId: null, agentId: null };
  }
  const { id } = await findAgent(run, wantedAgent(run, agent));
  const saved = run.profiles.credentials().gatewayTokens[run.settings.profile]?.[id];
  if (saved !== undefined) return { ...saved, source: 'saved', agentId: id };
  return mint(run, id, ttlMs);
}

async function mint(run: Invocation, agentId: string, ttlMs: number): Promise<GatewayToken> {
  const client = await run.client();
  const name = `acg run on ${hostname().replaceAll(/[^\w.-]/g, '-') || 'unknown'}`.slice(0, 200);
  const expiresAt = new Date(Date.now() + ttlMs).toISOString();
  const answer = await client
    .post('/v1/api-keys', { body: { name, scope: 'agent', agentId, expiresAt } })
    .catch((error: unknown) => {
      const failure = failureOf(error);
      if (failure.exitCode !== EXIT.forbidden) throw failure;
      throw new Failure(EXIT.forbidden, 'your role may not make gateway tokens', {
        hint: 'ask an admin for one, and put it into ACG_GATEWAY_TOKEN',
      });
    });
  return { token: answer.secretKey, source: 'minted', keyId: answer.key.id, agentId };
}

/** Ends a token that was made for a run; one that does not end is said, and ends by itself. */
export async function revokeMinted(run: Invocation, { source, keyId }: GatewayToken): Promise<void> {
  if (source !== 'minted' || keyId === null) return;
  try {
    const client = connect({ url: run.settings.url, token: run.token, timeoutMs: REVOKE_TIMEOUT_MS });
    await client.delete('/v1/api-keys/{id}', { params: { path: { id: keyId } } });
  } catch (error) {
    const failure = failureOf(error);
    if (failure.exitCode === EXIT.notFound) return; // somebody was faster
    run.note(`acg: the token could not be revoked (${failure.message}): acg keys revoke ${keyId}`);
  }
}
