/** The variables of a child that goes through the gateway: the parent's, less its secrets, and the gateway's instead. */
import { planProviderVariables } from './provider-variables.js';

type Variables = Readonly<Record<string, string | undefined>>;

interface ChildEnvironmentOptions {
  readonly gatewayUrl: string;
  readonly token: string;
  /** The agent's slug. */
  readonly agent: string;
  /** Slugs of the providers that it may use. */
  readonly providers: readonly string[];
  /** Set last, as the caller wants them. */
  readonly extra: readonly (readonly [string, string])[];
  /** Names that stay though they are secrets. */
  readonly keep: readonly string[];
}

interface ChildEnvironment {
  readonly env: Record<string, string>;
  /** What the parent has and the child has not, or not as it was; sorted. */
  readonly removed: readonly string[];
  /** What the gateway has set. */
  readonly added: Readonly<Record<string, string>>;
  readonly remarks: readonly string[];
}

/** Variables of this program, e.g. a management token, which is worth more than all keys of the agent. */
const CLI_VARIABLES = /^ACG_/i;

export function buildChildEnvironment(parent: Variables, plan: ChildEnvironmentOptions): ChildEnvironment {
  const { gatewayUrl, token, agent } = plan;
  const { set, remove, remarks } = planProviderVariables(plan.providers, { gatewayUrl, token, env: parent });
  const kept = new Set(plan.keep);
  const added: Record<string, string> = { ACG_GATEWAY_URL: gatewayUrl, ACG_GATEWAY_TOKEN: token, ACG_AGENT: agent };
  for (const [name, value] of Object.entries(set)) if (!kept.has(name)) added[name] = value;
  for (const [name, value] of plan.extra) added[name] = value;
  // Windows takes path and Path for the same variable.
  const gone = new Set([...remove, ...Object.keys(added)].map((name) => name.toUpperCase()));
  const env: Record<string, string> = {};
  const removed: string[] = [];
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined) continue;
    const isGone = !kept.has(name) && (CLI_VARIABLES.test(name) || gone.has(name.toUpperCase()));
    if (!isGone) env[name] = value;
    else if (added[name] !== value) removed.push(name);
  }
  return { env: { ...env, ...added }, removed: removed.sort(), added, remarks };
}
