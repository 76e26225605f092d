/**
 * Sends one delivery with one POST; the status code decides the outcome. Reads at most 4 KiB of the response body, so
 * that the connection can be reused, and keeps none of it (docs/configuration.md#tenant-supplied-addresses).
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
}

const BODY_BYTES_MAX = 4096;
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
    await drainBody(response.body);
    return { statusCode: response.statusCode, error: failureOfStatus(response.statusCode) };
  } catch (error) {
    return { statusCode: null, error: late ? 'timeout' : failureOfError(error) };
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

/** Reads the body up to its bound and discards it. Leaving the loop early destroys the connection. */
async function drainBody(body: AsyncIterable<Buffer>): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_MAX) break;
    }
  } catch {
    // The status has arrived, so a failing body changes nothing.
  }
}

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
