/** Anthropic: messages whole and streamed, token counts, models, batches. Formats as the provider documents them. */
import { type Answer, eventStream, json, text } from './answer.js';
import { messageAnswer, messageFrames } from './anthropic-messages.js';
import { REAL } from './credentials.js';
import { type SeenRequest, StandIn } from './stand-in.js';

const RATE_HEADERS = [
  ['request-id', 'req_stand_in_2'],
  ['anthropic-ratelimit-requests-limit', '50'],
  ['anthropic-ratelimit-requests-remaining', '49'],
  ['anthropic-ratelimit-requests-reset', '2026-01-01T00:00:00Z'],
] as const;
const VERSIONS = new Set(['2023-06-01', '2026-10-21']);
const BATCH = /^\/v1\/messages\/batches\/(msgbatch_[a-z_]+)(\/results)?$/;

export class AnthropicStandIn extends StandIn {
  words: readonly string[] = ['Hello', ' from', ' the', ' provider', ' – ✓', '.'];

  protected override answer(request: SeenRequest): Answer {
    const { authorization, 'x-api-key': apiKey, 'anthropic-version': version } = request.headers;
    const asBearer = authorization === `Bearer ${REAL.anthropic}` && apiKey === undefined;
    const asKey = apiKey === REAL.anthropic && authorization === undefined;
    if (!asBearer && !asKey) return failure(401, 'authentication_error', 'invalid x-api-key');
    if (version === undefined || !VERSIONS.has(version)) {
      return failure(400, 'invalid_request_error', 'anthropic-version: header is required');
    }
    const batch = BATCH.exec(request.path);
    if (batch !== null && request.method === 'GET') {
      return batch[2] === undefined ? json(200, this.#batch(batch[1]!, 'ended'), RATE_HEADERS) : this.#results();
    }
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/messages':
        return this.#messages(JSON.parse(request.body.toString('utf8')) as Record<string, unknown>);
      case 'POST /v1/messages/count_tokens':
        return json(200, { input_tokens: 14 }, RATE_HEADERS);
      case 'GET /v1/models':
        return json(200, { data: [MODEL], has_more: false, first_id: MODEL.id, last_id: MODEL.id }, RATE_HEADERS);
      case 'POST /v1/messages/batches':
        return json(200, this.#batch('msgbatch_one', 'in_progress'), RATE_HEADERS);
      case 'GET /v1/messages/batches':
        return json(200, this.#batchList(), RATE_HEADERS);
      default:
        return failure(404, 'not_found_error', 'Not found');
    }
  }

  #messages(body: Record<string, unknown>): Answer {
    const model = String(body.model);
    if (typeof body.max_tokens !== 'number') return failure(400, 'invalid_request_error', 'max_tokens: Field required');
    if (body.stream === true) return eventStream(messageFrames(model, this.words), RATE_HEADERS);
    return json(200, messageAnswer(model, this.words.join('')), RATE_HEADERS);
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

  #results(): Answer {
    const line = (id: string): string =>
      `${JSON.stringify({ custom_id: id, result: { type: 'succeeded', message: messageAnswer('claude-haiku-4-5', 'x') } })}\n`;
    return {
      status: 200,
      headers: [['content-type', 'application/x-jsonl']],
      body: [text(line('a')), text(line('b'))],
    };
  }
}

const MODEL = {
  type: 'model',
  id: 'claude-haiku-4-5-20251001',
  display_name: 'Claude Haiku 4.5',
  created_at: '2025-10-01T00:00:00Z',
};

function failure(status: number, type: string, message: string): Answer {
  const body = { type: 'error', error: { type, message }, request_id: 'req_stand_in_2' };
  return json(status, body, RATE_HEADERS);
}

/** 529, the status that only this provider has. */
export const ANTHROPIC_OVERLOADED: Answer = failure(529, 'overloaded_error', 'Overloaded');
