/** OpenAI: chat, responses, embeddings, models, files (multipart), speech (binary). Formats as the provider documents them. */

import { CHAT_USAGE, chatCompletion, chatCompletionEvents } from './openai-chat-bodies.js';
import { completedResponse, responseEvents } from './openai-response-bodies.js';
import { parseJsonObject, type ReceivedRequest, StandInProvider } from './stand-in-provider.js';
import { eventStreamResponse, prettyJsonResponse, type StandInResponse } from './stand-in-response.js';

/** The key of the quickstart: public, and in `deploy/stand-in-providers.json`, too. */
export const OPENAI_CREDENTIAL = 'sk-proj-real-openai-credential-0001';

const RATE_HEADERS = [
  ['x-request-id', 'req_stand_in_1'],
  ['openai-processing-ms', '42'],
  ['x-ratelimit-limit-requests', '500'],
  ['x-ratelimit-remaining-requests', '499'],
  ['x-ratelimit-reset-requests', '120ms'],
  ['set-cookie', '__cf_bm=session; HttpOnly'],
] as const;

/** Bytes of `audio/speech`: every byte value, so that treating them as text fails. */
export const SPEECH_BYTES = Buffer.from(Array.from({ length: 4096 }, (_, i) => i % 256));

export class OpenAiStandIn extends StandInProvider {
  /** Chunks of a streamed text. */
  answerWords: readonly string[] = ['Hello', ' from', ' the', ' provider', ' – ✓', '.'];

  protected override respond(request: ReceivedRequest): StandInResponse {
    const given = request.headers.authorization;
    if (given !== `Bearer ${OPENAI_CREDENTIAL}` || request.headers['api-key'] || request.headers['x-api-key']) {
      return errorResponse(401, 'invalid_request_error', 'invalid_api_key', 'Incorrect API key provided.');
    }
    switch (`${request.method} ${request.path}`) {
      case 'POST /v1/chat/completions':
        return withJsonBody(request, (body) => this.#chat(body));
      case 'POST /v1/responses':
        return withJsonBody(request, (body) => this.#responses(body));
      case 'POST /v1/embeddings':
        return withJsonBody(request, handleEmbeddings);
      case 'GET /v1/models':
        return prettyJsonResponse(200, { object: 'list', data: [MODEL] }, RATE_HEADERS);
      case 'POST /v1/files':
        return handleFileUpload(request);
      case 'POST /v1/audio/speech':
        return {
          status: 200,
          headers: [['Content-Type', 'audio/mpeg'], ...RATE_HEADERS],
          body: splitBytes(SPEECH_BYTES, 1000),
        };
      default:
        return errorResponse(404, 'invalid_request_error', null, `Invalid URL (${request.method} ${request.path})`);
    }
  }

  /** Usage of a chat response. */
  protected chatUsage(_body: Body): object {
    return CHAT_USAGE;
  }

  #chat(body: Body): StandInResponse {
    if (typeof body.model !== 'string')
      return errorResponse(400, 'invalid_request_error', null, 'you must provide a model');
    if (body.model === 'no-such-model')
      return errorResponse(404, 'invalid_request_error', 'model_not_found', 'no model');
    if (body.stream !== true)
      return prettyJsonResponse(
        200,
        chatCompletion(body.model, this.answerWords.join(''), this.chatUsage(body)),
        RATE_HEADERS,
      );
    const options = body.stream_options as { include_usage?: boolean } | undefined;
    const asked = options?.include_usage === true;
    return eventStreamResponse(
      chatCompletionEvents(body.model, this.answerWords, asked, this.chatUsage(body)),
      RATE_HEADERS,
    );
  }

  #responses(body: Body): StandInResponse {
    const model = String(body.model);
    if (body.stream !== true)
      return prettyJsonResponse(200, completedResponse(model, this.answerWords.join('')), RATE_HEADERS);
    return eventStreamResponse(responseEvents(model, this.answerWords), RATE_HEADERS);
  }
}

export type Body = Record<string, unknown>;

const MODEL = { id: 'gpt-5-mini', object: 'model', created: 1_754_425_777, owned_by: 'system' };

function withJsonBody(request: ReceivedRequest, handle: (body: Body) => StandInResponse): StandInResponse {
  const body = parseJsonObject(request);
  if (body !== null) return handle(body);
  return errorResponse(400, 'invalid_request_error', null, 'We could not parse the JSON body of your request.');
}

function errorResponse(status: number, type: string, code: string | null, message: string): StandInResponse {
  return prettyJsonResponse(status, { error: { message, type, param: null, code } }, RATE_HEADERS);
}

/** OpenAI's own 429, as a fault for tests. */
export const OPENAI_RATE_LIMITED_RESPONSE: StandInResponse = prettyJsonResponse(
  429,
  { error: { message: 'Rate limit reached', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
  [...RATE_HEADERS, ['retry-after', '7']],
);

function handleEmbeddings(body: Body): StandInResponse {
  const inputs = Array.isArray(body.input) ? body.input : [body.input];
  const vector = new Float32Array([0.25, -0.5, 0.125]);
  const embedding =
    body.encoding_format === 'base64' ? Buffer.from(vector.buffer).toString('base64') : Array.from(vector);
  return prettyJsonResponse(
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

/** Reads the file part of a multipart body, so that tests notice a damaged upload. */
function handleFileUpload(request: ReceivedRequest): StandInResponse {
  const boundary = /boundary=(?:"([^"]+)"|([^;]+))/.exec(request.headers['content-type'] ?? '');
  if (boundary === null) return errorResponse(400, 'invalid_request_error', null, 'not multipart/form-data');
  const body = request.body.toString('latin1');
  const file = body.split(`--${boundary[1] ?? boundary[2]}`).find((part) => part.includes('name="file"'));
  if (file === undefined) return errorResponse(400, 'invalid_request_error', null, 'no file');
  const headEnd = file.indexOf('\r\n\r\n');
  return prettyJsonResponse(200, {
    id: 'file-stand-in',
    object: 'file',
    bytes: file.length - headEnd - 4 - 2,
    created_at: 1_767_225_600,
    filename: /filename="([^"]*)"/.exec(file)?.[1] ?? '',
    purpose: 'batch',
    status: 'processed',
  });
}

function splitBytes(bytes: Buffer, size: number): Buffer[] {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) out.push(bytes.subarray(at, at + size));
  return out;
}
