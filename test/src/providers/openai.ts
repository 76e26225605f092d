/** OpenAI: chat, responses, embeddings, models, files (multipart), speech (binary). Formats as the provider documents them. */
import { type Answer, eventStream, prettyJson } from './answer.js';
import { REAL } from './credentials.js';
import { CHAT_USAGE, chatAnswer, chatFrames } from './openai-chat.js';
import { responseAnswer, responseFrames } from './openai-responses.js';
import { type SeenRequest, StandIn } from './stand-in.js';

const RATE_HEADERS = [
  ['x-request-id', 'req_stand_in_1'],
  ['openai-processing-ms', '42'],
  ['x-ratelimit-limit-requests', '500'],
  ['x-ratelimit-remaining-requests', '499'],
  ['x-ratelimit-reset-requests', '120ms'],
  ['set-cookie', '__cf_bm=session; HttpOnly'],
] as const;

/** Bytes of `audio/speech`: every byte value, so that nothing may treat them as text. */
export const SPEECH = Buffer.from(Array.from({ length: 4096 }, (_, i) => i % 256));

export class OpenAiStandIn extends StandIn {
  /** Pieces in which a streamed text arrives. */
  words: readonly string[] = ['Hello', ' from', ' the', ' provider', ' – ✓', '.'];

  protected override answer(request: SeenRequest): Answer {
    const given = request.headers.authorization;
    if (given !== `Bearer ${REAL.openai}` || request.headers['api-key'] || request.headers['x-api-key']) {
      return failure(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.');
    }
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/chat/completions':
        return this.#chat(parse(request));
      case 'POST /v1/responses':
        return this.#responses(parse(request));
      case 'POST /v1/embeddings':
        return embeddings(parse(request));
      case 'GET /v1/models':
        return prettyJson(200, { object: 'list', data: [MODEL] }, RATE_HEADERS);
      case 'POST /v1/files':
        return upload(request);
      case 'POST /v1/audio/speech':
        return { status: 200, headers: [['Content-Type', 'audio/mpeg'], ...RATE_HEADERS], body: pieces(SPEECH, 1000) };
      default:
        return failure(404, 'invalid_request_error', null, `Invalid URL (${request.method} ${request.path})`);
    }
  }

  /** What a chat says that it used. */
  protected chatUsage(_body: Body): object {
    return CHAT_USAGE;
  }

  #chat(body: Body): Answer {
    if (typeof body.model !== 'string') return failure(400, 'invalid_request_error', null, 'you must provide a model');
    if (body.model === 'no-such-model') return failure(404, 'invalid_request_error', 'model_not_found', 'no model');
    if (body.stream !== true)
      return prettyJson(200, chatAnswer(body.model, this.words.join(''), this.chatUsage(body)), RATE_HEADERS);
    const options = body.stream_options as { include_usage?: boolean } | undefined;
    const asked = options?.include_usage === true;
    return eventStream(chatFrames(body.model, this.words, asked, this.chatUsage(body)), RATE_HEADERS);
  }

  #responses(body: Body): Answer {
    const model = String(body.model);
    if (body.stream !== true) return prettyJson(200, responseAnswer(model, this.words.join('')), RATE_HEADERS);
    return eventStream(responseFrames(model, this.words), RATE_HEADERS);
  }
}

export type Body = Record<string, unknown>;

const MODEL = { id: 'gpt-5-mini', object: 'model', created: 1_754_425_777, owned_by: 'system' };

const parse = (request: SeenRequest): Body => JSON.parse(request.body.toString('utf8')) as Body;

function failure(status: number, type: string, code: string | null, message: string): Answer {
  return prettyJson(status, { error: { message, type, param: null, code } }, RATE_HEADERS);
}

/** A provider's own 429, as a fault for tests. */
export const OPENAI_RATE_LIMITED: Answer = prettyJson(
  429,
  { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
  [...RATE_HEADERS, ['retry-after', '7']],
);

function embeddings(body: Body): Answer {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const vector = new Float32Array([0.25, -0.5, 0.125]);
  const embedding =
    body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
  return prettyJson(
    200,
    {
      object: 'list',
      data: inputs.map((_, index) => ({ object: 'embedding', index, embedding })),
      model: body.model,
      usage: { prompt_tokens: 8, total_tokens: 8 },
    },
    RATE_HEADERS,
  );
}

/** Reads the file's part of a multipart body, so that a damaged upload is seen. */
function upload(request: SeenRequest): Answer {
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(request.headers['content-type'] ?? '');
  if (boundary === null) return failure(400, 'invalid_request_error', null, 'not multipart/form-data');
  const body = request.body.toString('latin1');
  const file = body.split(`--${boundary[1] ?? boundary[2]}`).find((part) => part.includes('name="file"'));
  if (file === undefined) return failure(400, 'invalid_request_error', null, 'no file');
  const headEnd = file.indexOf('\r\n\r\n');
  return prettyJson(200, {
    id: 'file-stand-in',
    object: 'file',
    bytes: file.length - headEnd - 4 - 2,
    created_at: 1_767_225_600,
    filename: /filename="([^"]*)"/.exec(file)?.[1] ?? '',
    purpose: 'batch',
    status: 'processed',
  });
}

function pieces(bytes: Buffer, size: number): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(bytes.subarray(at, at + size));
  return out;
}
