/** Gemini, Bedrock, Azure OpenAI and Cohere. Formats of the vendors' API references. */
import { crc32 } from 'node:zlib';
import { chatCompletion, chatCompletionEvents } from '@acg/stand-in-provider/openai-chat-bodies';
import { eventStreamResponse, jsonResponse, utf8 } from '@acg/stand-in-provider/stand-in-response';
import { sha256, verifySignature } from './s3-signature.js';
import { hasOnlyCredential, parseJsonBody, VendorStandIn } from './vendor-stand-in.js';

export const MODEL_VENDOR_CREDENTIALS = {
  gemini: { apiKey: 'AIzaRealGeminiCredential0123456789abcdef' },
  bedrock: {
    accessKeyId: 'AKIAREALBEDROCKKEY01',
    secretAccessKey: 'real/Bedrock+Secret/0123456789abcdefgh',
    region: 'us-east-1',
  },
  'azure-openai': { apiKey: 'realazurecredential0123456789abc', resource: 'my-resource' },
  cohere: { apiKey: 'realCohereCredential0123456789abcdef' },
} as const;

/** The words of every streamed text. */
const WORDS = ['Hel', 'lo.'];
export const SAID = WORDS.join('');

export const geminiAnswer = (text: string, last: boolean): object => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...(last ? { finishReason: 'STOP' } : {}) }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
  modelVersion: 'gemini-3.5-flash',
});

const GEMINI = '/v1beta/models/gemini-3.5-flash';

export const gemini = new VendorStandIn({
  isAuthorized: hasOnlyCredential('x-goog-api-key', MODEL_VENDOR_CREDENTIALS.gemini.apiKey),
  notFound: jsonResponse(404, { error: { code: 404, message: 'models/none is not found', status: 'NOT_FOUND' } }),
  calls: {
    [`POST ${GEMINI}:generateContent`]: () => jsonResponse(200, geminiAnswer(SAID, true)),
    [`POST ${GEMINI}:streamGenerateContent`]: () =>
      eventStreamResponse(
        WORDS.map((text, i) => `data: ${JSON.stringify(geminiAnswer(text, i === WORDS.length - 1))}\r\n\r\n`),
      ),
    'GET /v1beta/models': ({ query }) =>
      query.includes('pageToken=second')
        ? jsonResponse(200, { models: [{ name: 'models/b' }] })
        : jsonResponse(200, { models: [{ name: 'models/a' }], nextPageToken: 'second' }),
    'POST /upload/v1beta/files': (_request, origin) =>
      jsonResponse(200, {}, [
        ['x-goog-upload-status', 'active'],
        ['x-goog-upload-url', `${origin}/upload/v1beta/files/continue?upload_id=one&upload_protocol=resumable`],
      ]),
    'POST /upload/v1beta/files/continue': ({ bodyBytes, query }) =>
      jsonResponse(200, { file: { name: 'files/one', sizeBytes: String(bodyBytes), displayName: query } }, [
        ['x-goog-upload-status', 'final'],
      ]),
  },
});

/** A message of `application/vnd.amazon.eventstream`. */
function awsEvent(type: string, payload: object): Buffer {
  const headers = Object.entries({
    ':message-type': 'event',
    ':event-type': type,
    ':content-type': 'application/json',
  }).map(([name, value]) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(value.length);
    return Buffer.concat([Buffer.from([name.length]), utf8(name), Buffer.from([7]), length, utf8(value)]);
  });
  const head = Buffer.concat(headers);
  const body = utf8(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const message = Buffer.concat([prelude, head, body, Buffer.alloc(4)]);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

export const BEDROCK_MODEL = 'anthropic.claude-haiku-4-5-20251001-v1:0';
export const BEDROCK_PROFILE = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3';
const BEDROCK_USAGE = { usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 }, metrics: { latencyMs: 1 } };
const modelPath = (id: string, operation: string): string => `/model/${encodeURIComponent(id)}/${operation}`;
const converse = () =>
  jsonResponse(200, {
    output: { message: { role: 'assistant', content: [{ text: SAID }] } },
    stopReason: 'end_turn',
    ...BEDROCK_USAGE,
  });
const asyncInvoke = (id: string): object => ({
  invocationArn: `arn:aws:bedrock:us-east-1:123456789012:async-invoke/${id}`,
  modelArn: BEDROCK_PROFILE,
  submitTime: '2026-11-23T10:00:00Z',
  status: 'Completed',
  outputDataConfig: { s3OutputDataConfig: { s3Uri: 's3://bucket/out' } },
});

export const bedrock = new VendorStandIn({
  isAuthorized: (request) => {
    const keys = { ...MODEL_VENDOR_CREDENTIALS.bedrock, service: 'bedrock' };
    const verified = verifySignature(request, keys, Date.now());
    return 'payload' in verified && verified.payload === sha256(request.body);
  },
  notFound: jsonResponse(400, { message: 'The provided model identifier is invalid.' }, [
    ['x-amzn-errortype', 'ValidationException:http://internal.amazon.com/'],
  ]),
  calls: {
    [`POST ${modelPath(BEDROCK_MODEL, 'converse')}`]: converse,
    [`POST ${modelPath(BEDROCK_PROFILE, 'converse')}`]: converse,
    [`POST ${modelPath(BEDROCK_MODEL, 'converse-stream')}`]: () => ({
      status: 200,
      headers: [['content-type', 'application/vnd.amazon.eventstream']],
      body: [
        awsEvent('messageStart', { role: 'assistant' }),
        ...WORDS.map((text) => awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text } })),
        awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
        awsEvent('messageStop', { stopReason: 'end_turn' }),
        awsEvent('metadata', BEDROCK_USAGE),
      ],
    }),
    'GET /async-invoke': ({ query }) =>
      query.includes('nextToken=second')
        ? jsonResponse(200, { asyncInvokeSummaries: [asyncInvoke('b')] })
        : jsonResponse(200, { asyncInvokeSummaries: [asyncInvoke('a')], nextToken: 'second' }),
  },
});

const AZURE = '/openai/deployments/gpt-5-mini';
const azureFile = (id: string): object => ({
  id,
  object: 'file',
  bytes: 1,
  created_at: 1,
  filename: id,
  purpose: 'batch',
});

export const azure = new VendorStandIn({
  isAuthorized: hasOnlyCredential('api-key', MODEL_VENDOR_CREDENTIALS['azure-openai'].apiKey),
  notFound: jsonResponse(404, { error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } }),
  calls: {
    [`POST ${AZURE}/chat/completions`]: (request) =>
      parseJsonBody(request).stream === true
        ? eventStreamResponse(chatCompletionEvents('gpt-5-mini', WORDS, false))
        : jsonResponse(200, chatCompletion('gpt-5-mini', SAID)),
    [`POST ${AZURE}/embeddings`]: () =>
      jsonResponse(200, {
        object: 'list',
        model: 'gpt-5-mini',
        data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 8, total_tokens: 8 },
      }),
    'GET /openai/files': ({ query }) =>
      query.includes('after=file-a')
        ? jsonResponse(200, { object: 'list', data: [azureFile('file-b')], has_more: false })
        : jsonResponse(200, { object: 'list', data: [azureFile('file-a')], has_more: true }),
  },
});

const COHERE_USAGE = {
  billed_units: { input_tokens: 9, output_tokens: 3 },
  tokens: { input_tokens: 9, output_tokens: 3 },
};
const cohereEvent = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export const cohere = new VendorStandIn({
  isAuthorized: hasOnlyCredential('authorization', `Bearer ${MODEL_VENDOR_CREDENTIALS.cohere.apiKey}`),
  notFound: jsonResponse(404, { message: 'model not found' }),
  calls: {
    'POST /v2/chat': (request) => {
      const { model, stream } = parseJsonBody(request);
      if (model === 'none') return jsonResponse(404, { id: 'one', message: "model 'none' not found" });
      if (stream === true)
        return eventStreamResponse([
          cohereEvent('message-start', { id: 'one', delta: { message: { role: 'assistant', content: [] } } }),
          ...WORDS.map((text) => cohereEvent('content-delta', { index: 0, delta: { message: { content: { text } } } })),
          cohereEvent('message-end', { delta: { finish_reason: 'COMPLETE', usage: COHERE_USAGE } }),
        ]);
      return jsonResponse(200, {
        id: 'one',
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text: SAID }] },
        usage: COHERE_USAGE,
      });
    },
    'POST /v2/embed': () =>
      jsonResponse(200, {
        id: 'one',
        embeddings: { float: [[0.5]] },
        texts: ['hi'],
        meta: { billed_units: { input_tokens: 1 } },
        response_type: 'embeddings_by_type',
      }),
    'GET /v1/models': ({ query }) =>
      query.includes('page_token=second')
        ? jsonResponse(200, { models: [{ name: 'b' }] })
        : jsonResponse(200, { models: [{ name: 'a' }], next_page_token: 'second' }),
  },
});
