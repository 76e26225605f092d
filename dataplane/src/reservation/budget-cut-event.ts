/** The last event of a stream whose budget has no room for a larger reservation, in the provider's own error format. */

import type { RoutedExchange } from '../call/exchange.js';
import { normalizePath } from '../metering/reading/token-estimates.js';

const BUDGET_CUT_CODE = 'budget_cut';
const BUDGET_CUT_MESSAGE = 'The budget of this agent does not cover the rest of this response';
const error = { message: BUDGET_CUT_MESSAGE, type: BUDGET_CUT_CODE, param: null, code: BUDGET_CUT_CODE };

const encodeSseEvent = (name: string, data: object): Buffer =>
  Buffer.from(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);

const CHAT_COMPLETIONS_EVENT = encodeSseEvent('', { error });
// Fields for both kinds of client: of the documented event, and of the error object that older clients read.
const RESPONSES_API_EVENT = encodeSseEvent('error', {
  type: 'error',
  sequence_number: 0,
  code: BUDGET_CUT_CODE,
  message: BUDGET_CUT_MESSAGE,
  param: null,
  error,
});
const ANTHROPIC_EVENT = encodeSseEvent('error', {
  type: 'error',
  error: { type: BUDGET_CUT_CODE, message: BUDGET_CUT_MESSAGE },
});

/** Null: the format has no such event, so the connection must break. */
export function createBudgetCutEvent({ routed: { upstream, target } }: RoutedExchange): Buffer | null {
  const path = normalizePath(target.providerPath);
  if (upstream.usageFormat === 'anthropic')
    return path.endsWith('/messages') || path.endsWith('/complete') ? ANTHROPIC_EVENT : null;
  if (path.endsWith('/responses')) return RESPONSES_API_EVENT;
  return path.endsWith('/completions') ? CHAT_COMPLETIONS_EVENT : null;
}
