/** Formats one call on one line. */
import type { Call } from '@acg/client/schema';
import { formatCents } from '../../terminal/format-numbers-and-times.js';

/** `16:51:54 support-bot openai POST /v1/chat/completions 200 gpt-5-mini 12→9 tok $0.00004 96 ms` */
export function formatCallLine(call: Call): string {
  const { createdAt, agentName, providerSlug, method, path, status, error, model } = call;
  const tokens = call.tokensIn + call.tokensOut === 0 ? null : `${call.tokensIn}→${call.tokensOut} tok`;
  const cost = call.costCents === 0 ? null : formatCents(call.costCents);
  return [
    createdAt.slice(11, 19),
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
  ]
    .filter((part) => part !== null)
    .join(' ');
}
