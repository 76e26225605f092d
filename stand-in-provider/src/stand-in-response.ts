/** The response of a stand-in provider, and the faults that a test may apply to it. */
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

export interface StandInResponse {
  readonly status: number;
  /** In the order of sending; names as the provider writes them. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** One buffer is sent with a content-length; several are sent chunked, one write each, with backpressure. */
  readonly body: Buffer | Iterable<Buffer>;
  /** Pause between two chunks of the body. */
  readonly pauseMs?: number;
}

export interface Fault {
  /** Sent instead of the provider's own response. */
  readonly answer?: StandInResponse;
  /** The connection is destroyed before any response. */
  readonly reset?: true;
  /** No response until `release()` of the provider. */
  readonly hang?: true;
  /** The connection is destroyed after this many bytes of the body. */
  readonly cutAfterBytes?: number;
  /** The body stops after this many bytes until `release()`, then continues. */
  readonly stallAfterBytes?: number;
  /** The body is gzip-compressed, whatever the request accepts. */
  readonly gzip?: true;
  /** The response contains the request's own headers, in a header and in the body, in chunks of this many bytes. */
  readonly echoInChunks?: number;
}

export const utf8 = (value: string): Buffer => Buffer.from(value, 'utf8');

export function jsonResponse(
  status: number,
  value: unknown,
  headers: StandInResponse['headers'] = [],
): StandInResponse {
  return { status, headers: [['content-type', 'application/json'], ...headers], body: utf8(JSON.stringify(value)) };
}

/** JSON with line breaks and indentation, as OpenAI sends it. */
export function prettyJsonResponse(
  status: number,
  value: unknown,
  headers: StandInResponse['headers'] = [],
): StandInResponse {
  const body = utf8(`${JSON.stringify(value, null, 2)}\n`);
  return { status, headers: [['Content-Type', 'application/json'], ...headers], body };
}

/** Server-sent events, one write per frame. */
export function eventStreamResponse(
  frames: readonly string[],
  headers: StandInResponse['headers'] = [],
): StandInResponse {
  const type = ['Content-Type', 'text/event-stream; charset=utf-8'] as const;
  return { status: 200, headers: [type, ...headers], body: frames.map(utf8) };
}

export const emptyResponse = (status: number, headers: StandInResponse['headers'] = []): StandInResponse => ({
  status,
  headers,
  body: utf8(''),
});

/** Sends a response with a fault. Resolves when the last byte was handed over or the connection is closed. */
export async function sendResponse(
  response: ServerResponse,
  answer: StandInResponse,
  fault: Fault,
  released: () => Promise<void>,
): Promise<void> {
  const whole = fault.gzip ? gzipSync(Buffer.concat(bodyParts(answer.body))) : answer.body;
  const headers = fault.gzip ? [...answer.headers, ['content-encoding', 'gzip'] as const] : answer.headers;
  const headless = response.req.method === 'HEAD' || answer.status === 204 || answer.status === 304;
  response.statusCode = answer.status;
  for (const [name, value] of headers) response.appendHeader(name, value);
  if (Buffer.isBuffer(whole) && answer.status !== 204 && answer.status !== 304) {
    if (!response.hasHeader('content-length')) response.setHeader('content-length', whole.length);
  }
  if (headless) {
    response.end();
    return;
  }
  response.flushHeaders();
  let sent = 0;
  for (const piece of Buffer.isBuffer(whole) ? [whole] : whole) {
    const stop = bytesBeforeFault(fault, sent, piece.length);
    if (stop !== -1) await writeWithBackpressure(response, piece.subarray(0, stop));
    if (stop !== -1 && fault.cutAfterBytes !== undefined) {
      response.destroy();
      return;
    }
    if (stop !== -1) await released();
    await writeWithBackpressure(response, stop === -1 ? piece : piece.subarray(stop));
    sent += piece.length;
    if (answer.pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, answer.pauseMs));
    if (response.destroyed) return;
  }
  response.end();
}

/** Number of bytes of the next chunk that are sent before the fault; -1 when the fault is not in this chunk. */
function bytesBeforeFault(fault: Fault, sent: number, length: number): number {
  const at = fault.cutAfterBytes ?? fault.stallAfterBytes;
  return at === undefined || at < sent || at >= sent + length ? -1 : at - sent;
}

const bodyParts = (body: StandInResponse['body']): Buffer[] => (Buffer.isBuffer(body) ? [body] : [...body]);

function writeWithBackpressure(response: ServerResponse, piece: Buffer): Promise<void> | void {
  if (piece.length === 0 || response.destroyed) return;
  if (response.write(piece)) return;
  return new Promise((done) => {
    const go = (): void => {
      response.off('drain', go).off('close', go);
      done();
    };
    response.on('drain', go).on('close', go);
  });
}
