/** Changes of an agent's policy that allow or deny one tool of an MCP server. Pure. */
import { matchesWildcard } from '@acg/base/policy/call-pattern';
import { foldMcpName } from '@acg/base/policy/fold-mcp-name';
import type { Agent } from '../../resources/agent-account-and-key-hooks.js';

export type AgentPolicy = NonNullable<Agent['policy']>;
type ToolRule = NonNullable<AgentPolicy[string]['tools']>;

/** A name that a pattern would read as another one. */
const isPattern = (name: string): boolean => name.includes('*');

/**
 * Returns the policy with the tool allowed or denied; a text where only an edit of its patterns can do that. `policy`
 * null: everything is allowed. `accountSlugs`: the agent's providers, which a first policy must go on to allow.
 */
export function setToolAllowed(
  policy: AgentPolicy | null,
  slug: string,
  tool: string,
  isAllowed: boolean,
  accountSlugs: readonly string[],
): AgentPolicy | string {
  if (isPattern(tool)) return 'The name of this tool contains *: no policy can name it alone.';
  const whole: AgentPolicy = policy ?? Object.fromEntries(accountSlugs.map((one) => [one, {}]));
  const ofServer = Object.hasOwn(whole, slug) ? whole[slug]! : null;
  // A server that the policy does not list is closed: only this tool opens.
  const rule: ToolRule = ofServer === null ? { allow: [] } : (ofServer.tools ?? {});
  const changed = isAllowed ? allow(rule, tool) : deny(rule, tool);
  if (typeof changed === 'string') return changed;
  return { ...whole, [slug]: { ...ofServer, tools: changed } };
}

/** A rule without lists says nothing, and is left out by the API as it is here. */
function allow({ allow: allowed, deny: denied = [] }: ToolRule, tool: string): ToolRule | string {
  const others = denied.filter((entry) => isPattern(entry) || foldMcpName(entry) !== foldMcpName(tool));
  const pattern = others.find((entry) => matches(foldMcpName(entry), foldMcpName(tool)));
  if (pattern !== undefined) return `The policy denies ${pattern}: change it with acg agents set --policy-file.`;
  const isListed = allowed === undefined || allowed.some((entry) => matches(entry, tool));
  return toRule(isListed ? allowed : [...allowed, tool], others);
}

function deny({ allow: allowed, deny: denied = [] }: ToolRule, tool: string): ToolRule {
  const others = allowed?.filter((entry) => entry !== tool);
  const isStillAllowed = others === undefined || others.some((entry) => matches(entry, tool));
  return toRule(others, isStillAllowed ? [...denied, tool] : denied);
}

const toRule = (allowed: readonly string[] | undefined, denied: readonly string[]): ToolRule => ({
  ...(allowed === undefined ? {} : { allow: [...allowed] }),
  ...(denied.length === 0 ? {} : { deny: [...denied] }),
});

const matches = (pattern: string, name: string): boolean => matchesWildcard(pattern.split('*'), name);
