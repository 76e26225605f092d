/** Provides the gateway token of a run: an existing one, else one that is created for the run and revoked after it. */
import { hostname } from 'node:os';
import { findAgent, requireAgentName } from '../api/find-agent.js';
import { findPersonalAgentProject, listPersonalAgents } from '../api/find-personal-agent.js';
import { createApiClient } from '../invocation/api-client-with-timeout-and-retry.js';
import { endRunAsAgent, GATEWAY_TOKEN, startRunAsAgent } from '../invocation/data-plane-client.js';
import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES, toCliError, usage } from '../terminal/cli-error.js';

export interface GatewayToken {
  readonly token: string;
  /** `exchanged`: for the token of the workload, by a trust rule. */
  readonly source: 'environment' | 'saved' | 'minted' | 'exchanged';
  /** Of the key, or of the run; null for a token from the environment or of an exchange, whose id is unknown. */
  readonly keyId: string | null;
  /** The token is that of a run, which ends with the program. */
  readonly isRun?: true;
  /** The token is that of the user's personal agent. */
  readonly isPersonal?: true;
  /** Id of the agent that the token must belong to; null for any agent. */
  readonly agentId: string | null;
}

/** A run that is started for the program. */
export interface RunBudget {
  readonly budgetCents: number;
  readonly label: string | undefined;
  readonly gatewayUrl: string;
}

interface TokenOptions {
  readonly agent: string | undefined;
  /** The user's personal agent, whatever the settings name. */
  readonly personal?: boolean | undefined;
  readonly ttlMs: number;
  /** Null: the program gets a gateway token without a budget of its own. */
  readonly budget?: RunBudget | null;
}

/** Time limit in ms: the user waits for it. */
const REVOKE_TIMEOUT_MS = 10_000;

/**
 * Runs `work` with the gateway token. A saved token that the gateway rejects has been revoked or has expired: it is
 * forgotten, and `work` runs again with a new token.
 */
export async function withGatewayToken<T>(
  run: Invocation,
  { agent, personal = false, ttlMs, budget = null }: TokenOptions,
  work: (token: GatewayToken) => Promise<T>,
): Promise<T> {
  if (personal && agent !== undefined) throw usage('--personal and --agent exclude each other');
  if (personal && budget !== null)
    throw usage('--personal and --budget exclude each other', 'start the run inside: acg run --budget');
  const token = await (budget === null
    ? obtainGatewayToken(run, agent, personal, ttlMs)
    : startRun(run, agent, ttlMs, budget));
  try {
    return await work(token);
  } catch (error) {
    if (token.source !== 'saved' || toCliError(error).exitCode !== EXIT_CODES.unauthenticated) throw error;
    run.profiles.forgetGatewayToken(token.keyId!);
    run.printNote('acg: the saved gateway token has been revoked or has expired: a new one takes its place');
    return work(await mintGatewayToken(run, token.agentId!, ttlMs));
  }
}

async function obtainGatewayToken(
  run: Invocation,
  agent: string | undefined,
  personal: boolean,
  ttlMs: number,
): Promise<GatewayToken> {
  const given = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (given !== undefined && given !== '') {
    if (!GATEWAY_TOKEN.test(given)) throw usage('ACG_GATEWAY_TOKEN is no gateway token');
    return { token: given, source: 'environment', keyId: null, agentId: null };
  }
  if (personal || (!isAgentNamed(run, agent) && (await listPersonalAgents(run).catch(() => [])).length > 0))
    return mintPersonalToken(run, (await findPersonalAgentProject(run)).projectId, ttlMs);
  const { id } = await findAgent(run, requireAgentName(run, agent));
  const saved = run.profiles.readCredentials().gatewayTokens[run.settings.profile]?.[id];
  if (saved !== undefined) return { ...saved, source: 'saved', agentId: id };
  return mintGatewayToken(run, id, ttlMs);
}

const isAgentNamed = (run: Invocation, agent: string | undefined): boolean =>
  (agent ?? run.settings.agent ?? '') !== '';

/** Starts a run; with a token from the environment, a sub-run of its run or a run of its agent. */
async function startRun(
  run: Invocation,
  agent: string | undefined,
  ttlMs: number,
  { budgetCents, label, gatewayUrl }: RunBudget,
): Promise<GatewayToken> {
  const fields = { budgetCents, expiresIn: Math.ceil(ttlMs / 1_000), ...(label === undefined ? {} : { label }) };
  const given = run.terminal.env.ACG_GATEWAY_TOKEN;
  if (given !== undefined && given !== '') {
    if (!GATEWAY_TOKEN.test(given)) throw usage('ACG_GATEWAY_TOKEN is no gateway token');
    const started = await startRunAsAgent(gatewayUrl, given, fields);
    return { token: started.secretKey, source: 'minted', keyId: started.run.id, agentId: null, isRun: true };
  }
  const { id } = await findAgent(run, requireAgentName(run, agent));
  const client = await run.getClient();
  const started = await client.post('/v1/runs', { body: { agentId: id, ...fields } });
  return { token: started.secretKey, source: 'minted', keyId: started.run.id, agentId: id, isRun: true };
}

const nameOfRun = (): string => `acg run on ${hostname().replaceAll(/[^\w.-]/g, '-') || 'unknown'}`.slice(0, 200);

/** A token of the user's personal agent, which the first one creates. */
async function mintPersonalToken(run: Invocation, projectId: string, ttlMs: number): Promise<GatewayToken> {
  const client = await run.getClient();
  const body = { projectId, name: nameOfRun(), lifetimeSeconds: Math.ceil(ttlMs / 1_000) };
  const { agent, key, secretKey } = await client.post('/v1/personal-agents/keys', { body });
  return { token: secretKey, source: 'minted', keyId: key.id, agentId: agent.id, isPersonal: true };
}

async function mintGatewayToken(run: Invocation, agentId: string, ttlMs: number): Promise<GatewayToken> {
  const client = await run.getClient();
  const expiresAt = new Date(Date.now() + ttlMs).toISOString();
  const answer = await client
    .post('/v1/api-keys', { body: { name: nameOfRun(), scope: 'agent', agentId, expiresAt } })
    .catch(async (error: unknown) => {
      const failure = toCliError(error);
      if (failure.exitCode !== EXIT_CODES.forbidden) throw failure;
      const own = (await listPersonalAgents(run).catch(() => [])).find((row) => row.agent?.id === agentId);
      if (own !== undefined) return own;
      throw new CliError(EXIT_CODES.forbidden, 'your role cannot create gateway tokens', {
        hint: 'ask an admin for one, and put it into ACG_GATEWAY_TOKEN',
      });
    });
  if ('projectId' in answer) return mintPersonalToken(run, answer.projectId, ttlMs);
  return { token: answer.secretKey, source: 'minted', keyId: answer.key.id, agentId };
}

/** The command that ends a minted token; its id follows. */
export const revokeCommand = ({
  isRun,
  isPersonal,
}: {
  readonly isRun?: true | undefined;
  readonly isPersonal?: true | undefined;
}): string =>
  isRun === true ? 'acg runs end' : isPersonal === true ? 'acg personal-agents revoke-key' : 'acg keys revoke';

/** Revokes a token that was created for a run. A failure is reported; the token then expires on its own. */
export async function revokeMintedToken(
  run: Invocation,
  { source, keyId, isRun, isPersonal, token, agentId }: GatewayToken,
  gatewayUrl: string,
): Promise<void> {
  if (source !== 'minted' || keyId === null) return;
  try {
    // Started with a gateway token: there may be no session.
    if (isRun === true && agentId === null) return await endRunAsAgent(gatewayUrl, token, keyId);
    const client = createApiClient({ url: run.settings.url, token: run.token, timeoutMs: REVOKE_TIMEOUT_MS });
    const path =
      isRun === true ? '/v1/runs/{id}' : isPersonal === true ? '/v1/personal-agents/keys/{id}' : '/v1/api-keys/{id}';
    await client.delete(path, { params: { path: { id: keyId } } });
  } catch (error) {
    const failure = toCliError(error);
    if (failure.exitCode === EXIT_CODES.notFound) return; // already revoked
    run.printNote(
      `acg: the token could not be revoked (${failure.message}): ${revokeCommand({ isRun, isPersonal })} ${keyId}`,
    );
  }
}
