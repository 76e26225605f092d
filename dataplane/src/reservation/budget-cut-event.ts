/** The last event of a stream whose budget has no room for a larger reservation, in the provider's own error format. */

import type { RoutedExchange } from '../call/exchange.js';
import { isMessagePath, normalizePath } from '../metering/reading/token-estimates.js';
import { AWS_EVENT_STREAM_TYPE, encodeEventStreamFrame } from '../scan/aws-event-stream-parser.js';

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

// google.rpc.Status, as in Google's own errors.
const GOOGLE_ERROR = { error: { code: 429, message: BUDGET_CUT_MESSAGE, status: BUDGET_CUT_CODE } };
const GOOGLE_EVENT = encodeSseEvent('', GOOGLE_ERROR);
/** The last item of a stream that is a JSON array. */
const GOOGLE_ITEM = Buffer.from(`\n,\n${JSON.stringify(GOOGLE_ERROR)}]\n`);
const AWS_FRAME = encodeEventStreamFrame(
  [':message-type', 'error', ':error-code', BUDGET_CUT_CODE, ':error-message', BUDGET_CUT_MESSAGE],
  '',
);
const COHERE_EVENT = encodeSseEvent('message-end', {
  type: 'message-end',
  delta: { finish_reason: 'ERROR', error: BUDGET_CUT_MESSAGE },
});

/** Null: the format has no such event, so the connection must break. */
export function createBudgetCutEvent(
  { metering: { meter }, routed: { upstream, target } }: RoutedExchange,
  mediaType: string,
): Buffer | null {
  const path = normalizePath(target.providerPath);
  const isSse = mediaType === 'text/event-stream';
  if (upstream.usageFormat === 'gemini') return isSse ? GOOGLE_EVENT : GOOGLE_ITEM;
  if (upstream.usageFormat === 'bedrock')
    return mediaType === AWS_EVENT_STREAM_TYPE && meter?.isMalformed !== true ? AWS_FRAME : null;
  if (!isSse) return null;
  if (upstream.usageFormat === 'cohere') return COHERE_EVENT;
  if (upstream.usageFormat === 'anthropic') return isMessagePath(path) ? ANTHROPIC_EVENT : null;
  if (path.endsWith('/responses')) return RESPONSES_API_EVENT;
  return /\/completions$|:(?:stream)?rawpredict$/.test(path) ? CHAT_COMPLETIONS_EVENT : null;
}
