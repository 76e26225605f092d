/**
 * Sends one request to a token endpoint and reads the answer as hostile input: at most 64 KiB in 10 seconds, JSON, no
 * redirects, through the egress guard where a tenant entered the address. Throws {@link MintFailure}, whose text holds
 * nothing of the answer but its error code.
 */
import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciConnector } from '@acg/base/dialer/undici-connector';
import { Agent, type RequestInit, type Response, fetch as undiciFetch } from 'undici';
import { MintFailure, type MintFailureCode } from './mint-failure.js';

const ANSWER_BYTES_MAX = 65_536;
const TIMEOUT_MS = 10_000;
const RETRY_AFTER_MS_MAX = 900_000;

export interface TokenEndpoint {
  readonly url: string;
  /** A tenant entered the URL. */
  readonly tenantGiven: boolean;
}

interface EndpointRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface SentRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly headOnly?: boolean;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

export class TokenEndpointClient {
  constructor(readonly dialer: Dialer) {}

  /** Returns the members of the JSON answer of a request that succeeded. */
  async postForJson(
    orgId: string,
    endpoint: TokenEndpoint,
    request: EndpointRequest,
  ): Promise<Record<string, unknown>> {
    const { status, text } = await this.post(orgId, endpoint, request);
    const answer = parseObject(text);
    // Some vendors answer errors with 200 (GitHub: `error`, Slack: `ok: false`).
    if (status < 300 && answer !== null && answer.error === undefined) return answer;
    const error = errorCodeOf(answer);
    if (error !== null) throw new MintFailure(failureOfError(error, status), describeError(error, answer!));
    throw new MintFailure(status < 300 ? 'not_json' : 'rejected', status < 300 ? null : `HTTP ${status}`);
  }

  /** Returns an answer below 500 that is neither a redirect nor a rate limit. */
  async post(orgId: string, endpoint: TokenEndpoint, { headers, body }: EndpointRequest): Promise<EndpointAnswer> {
    const answer = await this.send(orgId, endpoint, { method: 'POST', headers, body });
    const { status } = answer;
    const retryAfterMs = parseRetryAfterMs(answer.headers.get('retry-after'));
    if (status >= 300 && status < 400) throw new MintFailure('redirect', `HTTP ${status}`);
    if (status === 429) throw new MintFailure('rate_limited', 'HTTP 429', retryAfterMs);
    if (status >= 500) throw new MintFailure('server_error', `HTTP ${status}`, retryAfterMs);
    return answer;
  }

  /** Returns any answer; redirects are not followed. `headOnly`: drops the body, which may never end. */
  async send(
    orgId: string,
    { url, tenantGiven }: TokenEndpoint,
    { headOnly = false, ...request }: SentRequest,
  ): Promise<EndpointAnswer> {
    const dispatcher = new Agent({
      connect: createUndiciConnector(this.dialer, tenantGiven ? orgId : null),
      maxResponseSize: ANSWER_BYTES_MAX,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      pipelining: 0,
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const headers = { ...request.headers, 'accept-encoding': 'identity' };
    const init: RequestInit = { ...request, headers, redirect: 'manual', dispatcher, signal };
    try {
      const response = await undiciFetch(url, init);
      return {
        status: response.status,
        headers: response.headers,
        text: headOnly ? '' : await readText(response.body),
      };
    } catch (error) {
      throw error instanceof MintFailure ? error : new MintFailure(...describeTransportError(error));
    } finally {
      void dispatcher.destroy().catch(() => undefined);
    }
  }
}

/** The limit counts decoded bytes: a server may compress although it was not asked to. */
async function readText(body: Response['body']): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new MintFailure('too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Null: not a JSON object. */
export function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** The error codes of RFC 6749 §5.2 and of vendors are words; anything else may quote a secret. */
const ERROR_CODE = /^[a-z][a-z0-9_.-]{1,59}$/i;

function errorCodeOf(answer: Record<string, unknown> | null): string | null {
  const { error } = answer ?? {};
  if (error === undefined) return null;
  // Vendors nest their own error format: Anthropic `type`, OpenAI `code`, Google `status`.
  const { code, status, type } = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  const isCode = (one: unknown): one is string => typeof one === 'string' && ERROR_CODE.test(one);
  return [error, code, status, type].find(isCode) ?? 'unknown_error';
}

/** Entra's numbers (`AADSTS7000215: …`) say more than the code. */
function describeError(error: string, { error_description: description }: Record<string, unknown>): string {
  const number = typeof description === 'string' ? /^AADSTS\d{4,9}/.exec(description)?.[0] : undefined;
  return number === undefined ? error : `${error}, ${number}`;
}

function failureOfError(error: string, status: number): MintFailureCode {
  if (error === 'invalid_client' || error === 'unauthorized_client') return 'invalid_client';
  if (error === 'invalid_grant') return 'invalid_grant';
  if (error === 'invalid_scope') return 'missing_scope';
  if (error === 'slow_down' || status === 429) return 'rate_limited';
  return error === 'temporarily_unavailable' || error === 'server_error' ? 'server_error' : 'rejected';
}

/** Seconds or a date (RFC 9110 §10.2.3), as ms. */
function parseRetryAfterMs(value: string | null): number {
  if (value === null) return 0;
  const ms = /^\d{1,6}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX) : 0;
}

function describeTransportError(error: unknown): [MintFailureCode, string | null] {
  const causes: { name?: unknown; code?: unknown }[] = [];
  for (let one = error; typeof one === 'object' && one !== null && causes.length < 5; one = (one as Error).cause)
    causes.push(one as { name?: unknown; code?: unknown });
  const codes = causes.map(({ code }) => code).filter((code) => typeof code === 'string');
  if (causes.some(({ name }) => name === 'TimeoutError') || codes.some((code) => /TIMEOUT|ETIMEDOUT/.test(code)))
    return ['timeout', null];
  if (codes.includes('UND_ERR_RES_EXCEEDED_MAX_SIZE')) return ['too_large', null];
  if (codes.some((code) => /EGRESS_REFUSED/.test(code))) return ['egress_denied', null];
  const code = codes.find((one) => /^[A-Z][A-Z0-9_]{1,60}$/.test(one));
  return ['unreachable', code ?? null];
}
