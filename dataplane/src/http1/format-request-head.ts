/** Formats the head of an upstream request for the wire (RFC 9112 §3, §5). */

/** A name, value or target that an HTTP/1.1 head cannot carry. The message contains no value of the request. */
export class InvalidRequestError extends Error {}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const BAD_TARGET = /[^\x21-\xff]/;
/** Cache of valid names. Callers use few different names. */
const validNames = new Set<string>();
const NAMES_MAX = 2_000;

/**
 * Returns latin1 text up to and including the empty line. `headers` is flat (`[name, value, …]`) and does not contain
 * `host`. `framing`: the content length in bytes; `chunked`; or -1 for no framing header, because there is no body or
 * `headers` contains the length. `closes`: the connection closes after the response. Throws {@link
 * InvalidRequestError}.
 */
export function formatRequestHead(
  method: string,
  path: string,
  host: string,
  headers: readonly string[],
  framing: number | 'chunked',
  closes: boolean,
): string {
  if (BAD_TARGET.test(path)) throw new InvalidRequestError('the request target contains an invalid byte');
  const connection = closes ? 'close' : 'keep-alive';
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const value = headers[i + 1]!;
    if (!validNames.has(name)) validateName(name);
    if (BAD_VALUE.test(value)) throw new InvalidRequestError('a header value contains an invalid byte');
    head += `${name}: ${value}\r\n`;
  }
  if (framing === -1) return `${head}\r\n`;
  if (framing === 'chunked') return `${head}transfer-encoding: chunked\r\n\r\n`;
  return `${head}content-length: ${framing}\r\n\r\n`;
}

function validateName(name: string): void {
  if (!NAME.test(name)) throw new InvalidRequestError('invalid header name');
  if (validNames.size < NAMES_MAX && name.length <= 64) validNames.add(name);
}

/**
 * Content length to declare, -1 for none. Methods that usually carry a body declare 0 for an empty one (RFC 9110 §8.6).
 */
export function contentLengthOf(method: string, body: Buffer | null): number {
  if (body !== null && body.length > 0) return body.length;
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 0 : -1;
}

/** The content-length header of a request with a streamed body, in bytes; -1 when there is none. */
export function findContentLength(headers: readonly string[]): number {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (headers[i]!.toLowerCase() === 'content-length') return Number(headers[i + 1]);
  }
  return -1;
}
