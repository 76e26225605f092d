/** What `acg run` and `acg env` share: whose token, which gateway, which providers, and the variables that follow. */
import { isId } from '../api/lookup.js';
import type { Invocation } from '../invocation/invocation.js';
import { EXIT, Failure, usage } from '../terminal/failure.js';
import { childEnvironment } from './child-environment.js';
import { readSelf, type Self } from './gateway.js';
import type { GatewayToken } from './gateway-token.js';

export interface PrepareOptions {
  readonly agent?: string;
  readonly providers?: readonly string[];
  readonly set?: readonly (readonly [string, string])[];
  readonly keep?: readonly string[];
}

export async function prepare(
  run: Invocation,
  options: PrepareOptions,
  { token, gatewayUrl, signal }: { token: GatewayToken; gatewayUrl: string; signal?: AbortSignal },
) {
  const self = await readSelf(gatewayUrl, token.token, signal);
  demandAgent(self, options.agent, token);
  if (self.agent.status !== 'active')
    throw new Failure(EXIT.forbidden, `the agent ${self.agent.slug} is ${self.agent.status}`, {
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
    if (providers.includes(slug) && status !== 'active') run.note(`acg: ${slug}: its key is not in use (${status})`);
  }
  const plan = childEnvironment(run.terminal.env, {
    gatewayUrl,
    token: token.token,
    agent: self.agent.slug,
    providers,
    extra: options.set ?? [],
    keep: options.keep ?? [],
  });
  return { agent: self.agent, providers, ...plan };
}

/** A token that somebody else put there may be of another agent. */
function demandAgent({ agent }: Self, wanted: string | undefined, { agentId, source }: GatewayToken): void {
  if (agentId !== null && agentId !== agent.id) throw usage(`the saved token is of the agent ${agent.slug}`);
  if (source !== 'environment' || wanted === undefined) return;
  const isSame = isId(wanted)
    ? wanted.toLowerCase() === agent.id
    : wanted === agent.slug || wanted.toLowerCase() === agent.name.toLowerCase();
  if (!isSame) throw usage(`ACG_GATEWAY_TOKEN is of the agent ${agent.slug}, not of ${wanted}`);
}
