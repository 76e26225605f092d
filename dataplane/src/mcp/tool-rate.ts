/** Finds the limit of requests a minute for a tool of an MCP server in an agent's policy. */
import type { CallPolicy } from '@acg/base/policy/call-rule-source';
import { findToolLimit } from '@acg/base/policy/mcp-name-rule';
import type { ToolRate } from '../limits/counters-interface.js';

/** Null: no entry of the policy matches the tool. */
export function findToolRate(policy: CallPolicy | null, tool: string): ToolRate | null {
  const entries = policy?.toolLimits;
  if (entries === undefined || tool === '') return null;
  const limit = findToolLimit(entries, tool);
  return limit === null ? null : { pattern: limit.tool, rpm: limit.rpm };
}
