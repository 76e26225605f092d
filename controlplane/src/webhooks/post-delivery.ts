/**
 * Sends one delivery with one POST; the status code decides the outcome. Reads at most 4 KiB of the response body, so
 * that the connection can be reused, and returns the first KiB as text (docs/webhooks.md#attempts).
 * Redirects are not followed. One timer covers the whole attempt, so a receiver that trickles bytes cannot extend it.
 */
import { NameResolutionError } from '@acg/base/dns/name-resolver-interface';
import type { Secret } from '@acg/base/secret';
import { type Agent, request } from 'undici';
import { signBody } from './webhook-signature.js';

interface DeliveryRequest {
  readonly deliveryId: string;
  readonly url: string;
  readonly event: string;
  /** The raw body; it is signed and sent unchanged. */
  readonly body: string;
  readonly secret: Secret;
  /** The previous secret during its overlap; null after it. */
  readonly previousSecret: Secret | null;
}

/** Class of a failed attempt. It never contains text from the receiver. */
type DeliveryFailure =
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'connect'
  | 'dns'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'address_refused'
  | 'secret_unreadable'
  | 'network';

export interface DeliveryAttempt {
  /** The receiver's HTTP status; null when there was none. */
  readonly statusCode: number | null;
  /** Null on success. */
  readonly error: DeliveryFailure | null;
  /** Milliseconds from the connect to the end of the attempt. */
  readonly durationMs: number;
  /** First KiB of the response body, without control characters; null without a response. */
  readonly responseBody: string | null;
}

const BODY_BYTES_MAX = 4096;
const BODY_BYTES_KEPT = 1024;
/** Time limit for reading the body after the status has arrived. The body no longer affects the outcome. */
const BODY_TIMEOUT_MS = 1_000;
const USER_AGENT = 'agent-credential-gateway';

/** Never rejects. `stop` aborts the attempt, which counts as a network failure. */
export async function postDelivery(
  agent: Agent,
  delivery: DeliveryRequest,
  timeoutMs: number,
  stop: AbortController,
): Promise<DeliveryAttempt> {
  const startedAt = performance.now();
  const result = (statusCode: number | null, error: DeliveryFailure | null, responseBody: string | null) => {
    return { statusCode, error, responseBody, durationMs: Math.round(performance.now() - startedAt) };
  };
  let late = false;
  let timer = setTimeout(() => {
    late = true;
    stop.abort();
  }, timeoutMs);
  try {
    const response = await request(delivery.url, {
      dispatcher: agent,
      method: 'POST',
      headers: deliveryHeaders(delivery),
      body: delivery.body,
      signal: stop.signal,
    });
    clearTimeout(timer);
    timer = setTimeout(() => stop.abort(), Math.min(timeoutMs, BODY_TIMEOUT_MS));
    const text = await readBodyStart(response.body);
    return result(response.statusCode, failureOfStatus(response.statusCode), text);
  } catch (error) {
    return result(null, late ? 'timeout' : failureOfError(error), null);
  } finally {
    clearTimeout(timer);
  }
}

function deliveryHeaders({ secret, previousSecret, body, event, deliveryId }: DeliveryRequest): Record<string, string> {
  const signatures = [secret, ...(previousSecret === null ? [] : [previousSecret])].map((key) => signBody(key, body));
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    // During the overlap the single-signature header uses the old secret, so receivers that know one secret keep
    // working.
    'x-webhook-signature': signatures.at(-1)!,
    'x-webhook-signatures': signatures.map((signature) => `v1=${signature}`).join(),
    'x-webhook-event': event,
    'x-webhook-delivery': deliveryId,
  };
}

/** Reads the body up to its bound and returns its start. Leaving the loop early destroys the connection. */
async function readBodyStart(body: AsyncIterable<Buffer>): Promise<string> {
  const kept: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (bytes < BODY_BYTES_KEPT) kept.push(chunk.subarray(0, BODY_BYTES_KEPT - bytes));
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) break;
    }
  } catch {
    // The status has arrived, so a failing body changes nothing.
  }
  // Postgres stores no NUL in JSON, and a terminal obeys control characters.
  return Buffer.concat(kept).toString('utf8').replace(CONTROL_CHARACTERS, ' ');
}

const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function failureOfStatus(status: number): DeliveryFailure | null {
  if (status >= 200 && status < 300) return null;
  return status >= 300 && status < 400 ? 'redirect' : 'status';
}

const FAILURE_BY_CODE: Readonly<Record<string, DeliveryFailure>> = {
  EGRESS_REFUSED: 'address_refused',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  EADDRNOTAVAIL: 'connect',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
};

function failureOfError(error: unknown): DeliveryFailure {
  if (error instanceof NameResolutionError) return 'dns';
  const { code, name } = error as { code?: unknown; name?: unknown };
  if (name === 'HTTPParserError') return 'protocol';
  if (typeof code !== 'string') return 'network';
  const known = FAILURE_BY_CODE[code];
  if (known !== undefined) return known;
  return /CERT|TLS|SSL|SIGNATURE|EPROTO/.test(code) ? 'tls' : 'network';
}
