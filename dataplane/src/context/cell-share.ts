/**
 * The share of rates that the data planes of a cell grant (docs/regions.md): where several cells count by themselves, their
 * shares add up to at most 100 %, so the sum of all cells never exceeds a limit. Budgets are not divided.
 */
import type { IAgentContext, ILimit } from '@acg/proto/messages';
import { LIMIT_TABLE } from '../limits/limit-table.js';

/** Returns the context with this share of each rate, rounded down; a rate stays at least 1. `share`: above 0, at most 1. */
export function applyCellShare(message: IAgentContext, share: number): IAgentContext {
  if (share >= 1) return message;
  const sent = message.limits ?? [];
  const rates = LIMIT_TABLE.filter(({ scope }) => scope === 'agent_provider');
  const shared = rates.flatMap(({ type, scope, window, unit, default: fallback }): ILimit[] => {
    const value =
      sent.find((one) => one.type === type && one.scope === scope)?.value || legacyValue(message, type) || fallback;
    return value === null ? [] : [{ type, scope, window, unit, value: Math.max(1, Math.floor(value * share)) }];
  });
  const others = sent.filter((one) => !rates.some(({ type, scope }) => one.type === type && one.scope === scope));
  return { ...message, limits: [...shared, ...others] };
}

/** Of control planes that do not send `limits` yet. */
const legacyValue = (message: IAgentContext, type: string): number | null | undefined =>
  type === 'rpm' ? message.rpmLimit : type === 'rpd' ? message.rpdLimit : null;
