/**
 * Builds the environment of a child that uses the gateway: the parent's variables, without its secrets, plus those of
 * the gateway.
 */
import { planProviderVariables, type UsedProvider } from './provider-variables.js';

type Variables = Readonly<Record<string, string | undefined>>;

interface ChildEnvironmentOptions {
  readonly gatewayUrl: string;
  readonly token: string;
  /** Slug of the agent. */
  readonly agent: string;
  /** The providers that the agent may use. */
  readonly providers: readonly UsedProvider[];
  /** Variables of the caller; they are set last. */
  readonly extra: readonly (readonly [string, string])[];
  /** Secret variables that the child keeps. */
  readonly keep: readonly string[];
}

interface ChildEnvironment {
  readonly env: Record<string, string>;
  /** Variables of the parent that the child lacks or gets with another value; sorted. */
  readonly removed: readonly string[];
  /** Variables that point to the gateway. */
  readonly added: Readonly<Record<string, string>>;
  readonly remarks: readonly string[];
}

/** Variables of this program, e.g. a management token, which has more rights than all tokens of the agent. */
const CLI_VARIABLES = /^ACG_/i;

export function buildChildEnvironment(parent: Variables, plan: ChildEnvironmentOptions): ChildEnvironment {
  const { gatewayUrl, token, agent } = plan;
  const { set, remove, remarks } = planProviderVariables(plan.providers, { gatewayUrl, token, env: parent });
  const kept = new Set(plan.keep);
  const added: Record<string, string> = { ACG_GATEWAY_URL: gatewayUrl, ACG_GATEWAY_TOKEN: token, ACG_AGENT: agent };
  for (const [name, value] of Object.entries(set)) if (!kept.has(name)) added[name] = value;
  for (const [name, value] of plan.extra) added[name] = value;
  // Windows treats path and Path as the same variable.
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
