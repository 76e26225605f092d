/** Anthropic: messages whole and streamed, token counts, models, batches. Formats as the provider documents them. */

import { parseJsonObject, type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import {
  eventStreamResponse,
  jsonResponse,
  type StandInResponse,
  utf8,
} from '@acg/stand-in-provider/stand-in-response';
import { completedMessage, messageEvents } from './anthropic-message-bodies.js';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';

const RATE_HEADERS = [
  ['request-id', 'req_stand_in_2'],
  ['anthropic-ratelimit-requests-limit', '50'],
  ['anthropic-ratelimit-requests-remaining', '49'],
  ['anthropic-ratelimit-requests-reset', '2026-01-01T00:00:00Z'],
] as const;
const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
const BATCH = /^\/v1\/messages\/batches\/(msgbatch_[a-z_]+)(\/results)?$/;

export class AnthropicStandIn extends StandInProvider {
  answerWords: readonly string[] = ['Hello', ' from', ' the', ' provider', ' – ✓', '.'];

  protected override respond(request: ReceivedRequest): StandInResponse {
    const { authorization, 'x-api-key': apiKey, 'anthropic-version': version } = request.headers;
    const asBearer = authorization === `Bearer ${PROVIDER_CREDENTIALS.anthropic}` && apiKey === undefined;
    const asKey = apiKey === PROVIDER_CREDENTIALS.anthropic && authorization === undefined;
    if (!asBearer && !asKey) return errorResponse(401, 'authentication_error', 'invalid x-api-key');
    if (version === undefined || !VERSIONS.has(version)) {
      return errorResponse(400, 'invalid_request_error', 'anthropic-version: header is required');
    }
    const batch = BATCH.exec(request.path);
    if (batch !== null && request.method === 'GET') {
      return batch[2] === undefined
        ? jsonResponse(200, this.#batch(batch[1]!, 'ended'), RATE_HEADERS)
        : this.#results();
    }
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/messages': {
        const body = parseJsonObject(request);
        if (body !== null) return this.#messages(body);
        return errorResponse(400, 'invalid_request_error', 'The request body is not valid JSON');
      }
      case 'POST /v1/messages/count_tokens':
        return jsonResponse(200, { input_tokens: 14 }, RATE_HEADERS);
      case 'GET /v1/models':
        return jsonResponse(
          200,
          { data: [MODEL], has_more: false, first_id: MODEL.id, last_id: MODEL.id },
          RATE_HEADERS,
        );
      case 'POST /v1/messages/batches':
        return jsonResponse(200, this.#batch('msgbatch_one', 'in_progress'), RATE_HEADERS);
      case 'GET /v1/messages/batches':
        return jsonResponse(200, this.#batchList(), RATE_HEADERS);
      default:
        return errorResponse(404, 'not_found_error', 'Not found');
    }
  }

  #messages(body: Record<string, unknown>): StandInResponse {
    const model = String(body.model);
    if (typeof body.max_tokens !== 'number')
      return errorResponse(400, 'invalid_request_error', 'max_tokens: Field required');
    if (body.stream === true) return eventStreamResponse(messageEvents(model, this.answerWords), RATE_HEADERS);
    return jsonResponse(200, completedMessage(model, this.answerWords.join('')), RATE_HEADERS);
  }

  #batchList(): object {
    const data = [this.#batch('msgbatch_one', 'ended'), this.#batch('msgbatch_two', 'ended')];
    return { data, has_more: false, first_id: 'msgbatch_one', last_id: 'msgbatch_two' };
  }

  #batch(id: string, status: 'in_progress' | 'ended'): object {
    const ended = status === 'ended';
    return {
      id,
      type: 'message_batch',
      processing_status: status,
      request_counts: { processing: ended ? 0 : 1, succeeded: ended ? 1 : 0, errored: 0, canceled: 0, expired: 0 },
      ended_at: ended ? '2026-01-01T00:01:00Z' : null,
      created_at: '2026-01-01T00:00:00Z',
      expires_at: '2026-01-02T00:00:00Z',
      archived_at: null,
      cancel_initiated_at: null,
      results_url: ended ? `${this.origin}/v1/messages/batches/${id}/results` : null,
    };
  }

  #results(): StandInResponse {
    const line = (id: string): string =>
      `${JSON.stringify({ custom_id: id, result: { type: 'succeeded', message: completedMessage('claude-haiku-4-5', 'x') } })}\n`;
    return {
      status: 200,
      headers: [['content-type', 'application/x-jsonl']],
      body: [utf8(line('a')), utf8(line('b'))],
    };
  }
}

const MODEL = {
  type: 'model',
  id: 'claude-haiku-4-5-20251001',
  display_name: 'Claude Haiku 4.5',
  created_at: '2025-10-01T00:00:00Z',
};

function errorResponse(status: number, type: string, message: string): StandInResponse {
  const body = { type: 'error', error: { type, message }, request_id: 'req_stand_in_2' };
  return jsonResponse(status, body, RATE_HEADERS);
}

/** 529, a status that only Anthropic sends. */
export const ANTHROPIC_OVERLOADED_RESPONSE: StandInResponse = errorResponse(529, 'overloaded_error', 'Overloaded');
