/** Formats one call on one line. */
import type { Call } from '@acg/client/schema';
import { formatCents, formatSecond } from '../../terminal/format-numbers-and-times.js';

/** `2026-11-22 16:51:54Z support-bot openai POST /v1/chat/completions 200 gpt-5-mini 12→9 tok $0.00004 96 ms ID` */
export function formatCallLine(call: Call): string {
  const { id, createdAt, agentName, providerSlug, method, path, status, error, model } = call;
  const tokens = call.tokensIn + call.tokensOut === 0 ? null : `${call.tokensIn}→${call.tokensOut} tok`;
  const cost = call.costCents === 0 ? null : formatCents(call.costCents);
  return [
    formatSecond(createdAt),
    agentName ?? '–',
    providerSlug,
    method,
    path,
    String(status),
    error,
    model,
    tokens,
    cost,
    `${call.durationMs} ms`,
    id,
  ]
    .filter((part) => part !== null)
    .join(' ');
}
