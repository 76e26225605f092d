/**
 * The share of rates that the data planes of a cell grant (docs/regions.md#shares): where several cells count by
 * themselves, their shares add up to at most 100 %, so the sum of all cells never exceeds a limit. `cell-budgets` divides
 * hard budgets.
 */
import type { Cell } from '@acg/base/cells';
import type { IAgentContext, ILimit, IUpstream } from '@acg/proto/messages';
import { LIMIT_TABLE } from '../limits/limit-table.js';

/** The share of a limit, rounded down. Exact for whole limits below 2^53. */
export const shareOf = (limit: number, { sharePercent }: Cell): number =>
  Math.floor(limit / 100) * sharePercent + Math.floor(((limit % 100) * sharePercent) / 100);

/** Returns the context with the cell's share of each rate; a rate stays at least 1. */
export function applyCellShare(message: IAgentContext, cell: Cell): IAgentContext {
  if (cell.sharePercent >= 100) return message;
  const sent = message.limits ?? [];
  const rates = LIMIT_TABLE.filter(({ scope }) => scope === 'agent_provider');
  const shared = rates.flatMap(({ type, scope, window, unit, default: fallback }): ILimit[] => {
    const value =
      sent.find((one) => one.type === type && one.scope === scope)?.value || legacyValue(message, type) || fallback;
    return value === null ? [] : [{ type, scope, window, unit, value: grant(value, cell) }];
  });
  const others = sent.filter((one) => !rates.some(({ type, scope }) => one.type === type && one.scope === scope));
  const shareTools = (upstreams: readonly IUpstream[] | null | undefined): IUpstream[] =>
    (upstreams ?? []).map((upstream) => shareToolLimits(upstream, cell));
  return {
    ...message,
    limits: [...shared, ...others],
    upstreams: shareTools(message.upstreams),
    namedOrigins: shareTools(message.namedOrigins),
  };
}

const grant = (value: number, cell: Cell): number => Math.max(1, shareOf(value, cell));

/** Limits of an MCP server's tools are rates, too. */
function shareToolLimits(upstream: IUpstream, cell: Cell): IUpstream {
  const { policy } = upstream;
  if (!policy?.toolLimits?.length) return upstream;
  const toolLimits = policy.toolLimits.map(({ tool, rpm }) => ({ tool: tool ?? '', rpm: grant(rpm ?? 0, cell) }));
  return { ...upstream, policy: { ...policy, toolLimits } };
}

/** Of control planes that do not send `limits` yet. */
const legacyValue = (message: IAgentContext, type: string): number | null | undefined =>
  type === 'rpm' ? message.rpmLimit : type === 'rpd' ? message.rpdLimit : null;
