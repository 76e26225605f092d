/**
 * Resolves what `acg run` and `acg env` need: the token, the gateway URL, the providers and the resulting variables.
 */
import { isUuid } from '../api/find-by-name.js';
import { type AgentSelf, fetchSelf } from '../invocation/data-plane-client.js';
import type { Invocation } from '../invocation/invocation.js';
import { CliError, EXIT_CODES, usage } from '../terminal/cli-error.js';
import { buildChildEnvironment } from './child-environment.js';
import type { GatewayToken } from './gateway-token.js';
import { knownVariablesOf, type UsedProvider } from './provider-variables.js';

export interface RunPlanOptions {
  readonly agent?: string;
  readonly providers?: readonly string[];
  readonly set?: readonly (readonly [string, string])[];
  readonly keep?: readonly string[];
}

export async function prepareRun(
  run: Invocation,
  options: RunPlanOptions,
  { token, gatewayUrl, signal }: { token: GatewayToken; gatewayUrl: string; signal?: AbortSignal },
) {
  const self = await fetchSelf(gatewayUrl, token.token, signal);
  assertTokenAgent(self, options.agent, token);
  if (self.agent.status !== 'active')
    throw new CliError(EXIT_CODES.forbidden, `the agent ${self.agent.slug} is ${self.agent.status}`, {
      hint: self.agent.status === 'paused' ? `acg agents resume ${self.agent.slug}` : 'acg agents ls',
    });
  const assigned = self.providers.map(({ slug }) => slug);
  const providers = options.providers ?? assigned;
  const missing = providers.find((slug) => !assigned.includes(slug));
  if (missing !== undefined) {
    throw usage(
      `${self.agent.slug} may not use ${missing}: it has ${assigned.join(', ') || 'no provider'}`,
      `acg accounts add ${missing} --agent ${self.agent.slug}`,
    );
  }
  for (const { slug, status } of self.providers) {
    if (providers.includes(slug) && status !== 'active')
      run.printNote(`acg: ${slug}: its key is not in use (${status})`);
  }
  const plan = buildChildEnvironment(run.terminal.env, {
    gatewayUrl,
    token: token.token,
    agent: self.agent.slug,
    providers: await findVariables(run, self, providers, token),
    extra: options.set ?? [],
    keep: options.keep ?? [],
  });
  return { self, agent: self.agent, providers, ...plan };
}

/**
 * The variables of each provider. A token from the environment or of an exchange comes without a session, so the variables of providers
 * that this program does not know stay unset.
 */
async function findVariables(
  run: Invocation,
  self: AgentSelf,
  slugs: readonly string[],
  { source }: GatewayToken,
): Promise<readonly UsedProvider[]> {
  const custom = new Set(self.providers.filter(({ builtIn }) => builtIn === false).map(({ slug }) => slug));
  const known = slugs.map((slug) => ({ slug, variables: custom.has(slug) ? null : knownVariablesOf(slug) }));
  const isAdded = ({ slug, variables }: UsedProvider): boolean =>
    variables === null && self.providers.some((provider) => provider.slug === slug && provider.builtIn === true);
  if (source === 'environment' || source === 'exchanged' || !known.some(isAdded)) return known;
  const client = await run.getClient();
  return Promise.all(
    known.map(async (one) => {
      if (!isAdded(one)) return one;
      const { provider } = await client.get('/v1/providers/{slug}', { params: { path: { slug: one.slug } } });
      return { ...one, variables: provider.sdk };
    }),
  );
}

/** A token from the environment or of an exchange may belong to another agent. */
function assertTokenAgent({ agent }: AgentSelf, wanted: string | undefined, { agentId, source }: GatewayToken): void {
  if (agentId !== null && agentId !== agent.id) throw usage(`the saved token is of the agent ${agent.slug}`);
  if ((source !== 'environment' && source !== 'exchanged') || wanted === undefined) return;
  const isSame = isUuid(wanted)
    ? wanted.toLowerCase() === agent.id
    : wanted === agent.slug || wanted.toLowerCase() === agent.name.toLowerCase();
  if (!isSame) throw usage(`the token is of the agent ${agent.slug}, not of ${wanted}`);
}
