/** Creates the calls of each kind, with the check of a complete response. */
import { createHash, randomBytes } from 'node:crypto';
import type { DataPlane } from '../chaos-environment.js';
import type { CallKind } from '../evidence/evidence-types.js';
import { LedgerCallMatcher } from '../evidence/ledger-call-matcher.js';
import { type CallPurpose, createCallId } from './call-purpose-in-id.js';
import type { HttpCall } from './http-call.js';
import { type ChaosAgent, CUSTOM_PROVIDER_SLUG } from './tenants.js';

const CHAT_PATH = '/v1/chat/completions';
/** Longer than any chat body without its padding. */
const CHAT_BYTES_MIN = 320;
const UPLOAD_BYTES = { min: 1_000, max: 400_000 };
const OBJECT_BYTES = 16_000;
const MAX_OUTPUT_TOKENS = { lane: 64, steady: 64, burst: 800 } as const;
const STREAM_DONE_EVENT = 'data: [DONE]\n\n';
const BUDGET_CUT_EVENT = '"code":"budget_cut"}}\n\n';
const LAST_WORD = 'word-9';

export class CallFactory {
  readonly ledgerCallMatcher = new LedgerCallMatcher();
  #made = 0;

  nextId(purpose: CallPurpose = 'lane'): string {
    return createCallId(purpose, ++this.#made);
  }

  chat(agent: ChaosAgent, plane: DataPlane, streamed: boolean, purpose: CallPurpose = 'lane'): HttpCall {
    const id = this.nextId(purpose);
    const body = this.#chatBody(agent, id, streamed, MAX_OUTPUT_TOKENS[purpose]);
    this.ledgerCallMatcher.register(id, agent.id, 'POST', CHAT_PATH, body.length);
    return {
      ...commonFields(id, streamed ? 'stream' : 'chat', agent, plane, `openai${CHAT_PATH}`),
      method: 'POST',
      headers: { authorization: `Bearer ${agent.token}`, 'content-type': 'application/json' },
      body,
      checkResponse: streamed ? (text) => checkStreamResponse(text, agent) : checkChatResponse,
    };
  }

  upload(agent: ChaosAgent, plane: DataPlane): HttpCall {
    const id = this.nextId();
    const body = randomBytes(UPLOAD_BYTES.min + Math.floor(Math.random() * (UPLOAD_BYTES.max - UPLOAD_BYTES.min)));
    const sha256 = createHash('sha256').update(body).digest('hex');
    this.ledgerCallMatcher.register(id, agent.id, 'PUT', `/sink/${id}`, body.length);
    return {
      ...commonFields(id, 'upload', agent, plane, `${CUSTOM_PROVIDER_SLUG}/sink/${id}`),
      method: 'PUT',
      headers: { authorization: `Bearer ${agent.token}` },
      body,
      bodyChunks: 5,
      checkResponse: (text) => (text.includes(sha256) ? null : 'the provider received other bytes'),
    };
  }

  echo(agent: ChaosAgent, plane: DataPlane, purpose: CallPurpose = 'lane'): HttpCall {
    const id = this.nextId(purpose);
    this.ledgerCallMatcher.register(id, agent.id, 'GET', `/echo/${id}`, 0);
    return {
      ...commonFields(id, 'echo', agent, plane, `${CUSTOM_PROVIDER_SLUG}/echo/${id}`),
      method: 'GET',
      headers: { authorization: `Bearer ${agent.token}` },
      body: null,
      checkResponse: (text) => (text.startsWith('{') && text.endsWith('}') ? null : 'the echo is incomplete'),
    };
  }

  /** `key` null: puts an object. Otherwise deletes the object with that key. */
  s3(agent: ChaosAgent, plane: DataPlane, key: string | null): HttpCall {
    const id = key === null ? this.nextId() : `${key}-deleted`;
    const path = `/chaos/${key ?? id}`;
    const method = key === null ? 'PUT' : 'DELETE';
    const body = key === null ? randomBytes(OBJECT_BYTES) : null;
    this.ledgerCallMatcher.register(id, agent.id, method, path, body?.length ?? 0);
    const credential = `Credential=${agent.token}/20260101/us-east-1/s3/aws4_request`;
    return {
      ...commonFields(id, 's3', agent, plane, `s3${path}`),
      method,
      headers: {
        authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
        'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
        'x-amz-date': '20260101T000000Z',
      },
      body,
      checkResponse: () => null,
    };
  }

  webSocketPath(agent: ChaosAgent, id: string): string {
    this.ledgerCallMatcher.register(id, agent.id, 'GET', `/ws/${id}`, 0);
    return `/v1/proxy/${CUSTOM_PROVIDER_SLUG}/ws/${id}`;
  }

  #chatBody(agent: ChaosAgent, id: string, stream: boolean, outputMax: number): Buffer {
    const length = this.ledgerCallMatcher.nextUniqueBodyLength(agent.id, CHAT_BYTES_MIN);
    const of = (content: string): string =>
      JSON.stringify({
        model: 'gpt-4o',
        user: id,
        stream,
        max_completion_tokens: outputMax,
        messages: [{ role: 'user', content }],
      });
    return Buffer.from(of('x'.repeat(length - of('').length)));
  }
}

const commonFields = (
  id: string,
  kind: CallKind,
  agent: ChaosAgent,
  { target: dataTarget, url }: DataPlane,
  target: string,
) => ({
  id,
  kind,
  agent: agent.agent,
  plane: dataTarget.victim,
  url: `${url}/v1/proxy/${target}`,
});

function checkChatResponse(text: string): string | null {
  try {
    const { choices } = JSON.parse(text) as { choices: readonly { message: { content: string } }[] };
    return choices[0]?.message.content.endsWith(LAST_WORD) === true ? null : 'the response has another text';
  } catch {
    return 'a complete response that is not JSON';
  }
}

/** A stream that ends without a connection error must contain an end marker. */
function checkStreamResponse(text: string, { hardBudget }: ChaosAgent): string | null {
  if (text.endsWith(BUDGET_CUT_EVENT)) return hardBudget ? null : 'stopped by a budget that is not a hard one';
  if (!text.endsWith(STREAM_DONE_EVENT)) return 'a complete stream ended without [DONE]';
  return text.includes(LAST_WORD) ? null : 'a chunk of the stream is missing';
}
