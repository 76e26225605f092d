/** The last event of a stream that ends because its budget carries no more, as the provider itself reports an error. */
import { plainPath } from '../metering/estimate.js';
import type { RoutedExchange } from './exchange.js';

const CODE = 'budget_cut';
const MESSAGE = 'The budget of this agent carries no more of this answer';
const error = { message: MESSAGE, type: CODE, param: null, code: CODE };

const event = (name: string, data: object): Buffer =>
  Buffer.from(`${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`);

const CHAT = event('', { error });
// Members for both kinds of reader: of the documented event, and of the error object that older ones look for.
const RESPONSES = event('error', {
  type: 'error',
  sequence_number: 0,
  code: CODE,
  message: MESSAGE,
  param: null,
  error,
});
const MESSAGES = event('error', { type: 'error', error: { type: CODE, message: MESSAGE } });

/** Null: the format has no such event, so the connection must break. */
export function budgetCutEvent({ routed: { upstream, target } }: RoutedExchange): Buffer | null {
  const path = plainPath(target.rest);
  if (upstream.usageFormat === 'anthropic')
    return path.endsWith('/messages') || path.endsWith('/complete') ? MESSAGES : null;
  if (path.endsWith('/responses')) return RESPONSES;
  return path.endsWith('/completions') ? CHAT : null;
}
