/** Finds the limit of requests a minute for a tool of an MCP server in an agent's policy. */

import { matchesWildcard } from '@acg/base/policy/call-pattern';
import type { CallPolicy, ToolLimit } from '@acg/base/policy/call-rule-source';
import { foldMcpName } from '@acg/base/policy/fold-mcp-name';
import type { ToolRate } from '../limits/counters-interface.js';

interface CompiledLimit {
  readonly pieces: readonly string[];
  readonly rate: ToolRate;
}

const compiled = new WeakMap<readonly ToolLimit[], readonly CompiledLimit[]>();

/**
 * The first entry that matches; null: no entry does. Matches in any case and compatibility form, because a server that
 * ignores them would run the tool.
 */
export function findToolRate(policy: CallPolicy | null, tool: string): ToolRate | null {
  const entries = policy?.toolLimits;
  if (entries === undefined || tool === '') return null;
  let limits = compiled.get(entries);
  if (limits === undefined) {
    limits = entries.map(({ tool: pattern, rpm }) => ({
      pieces: foldMcpName(pattern).split('*'),
      rate: Object.freeze({ pattern, rpm }),
    }));
    compiled.set(entries, limits);
  }
  const folded = foldMcpName(tool);
  return limits.find(({ pieces }) => matchesWildcard(pieces, folded))?.rate ?? null;
}
