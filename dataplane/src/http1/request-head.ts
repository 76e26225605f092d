/** The head of an upstream request as it goes over the wire (RFC 9112 §3, §5). */

/** The request cannot be sent: a name or value that no HTTP/1.1 head can hold. The message holds no value. */
export class InvalidRequestError extends Error {}

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const BAD_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const BAD_TARGET = /[^\x21-\xff]/;
/** Names that passed the test; callers use few, and the same. */
const validNames = new Set<string>();
const NAMES_MAX = 2_000;

/**
 * Latin1 text up to and including the empty line. `headers` is flat (`[name, value, …]`) and does not hold `host`.
 * `framing`: the content length; `chunked`; -1: none, because the request has no body and its method promises none, or
 * the headers hold its length. `closes`: the connection ends with the answer. Throws {@link InvalidRequestError}.
 */
export function formatRequestHead(
  method: string,
  path: string,
  host: string,
  headers: readonly string[],
  framing: number | 'chunked',
  closes: boolean,
): string {
  if (BAD_TARGET.test(path)) throw new InvalidRequestError('the target holds a byte that cannot be sent');
  const connection = closes ? 'close' : 'keep-alive';
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    const value = headers[i + 1]!;
    if (!validNames.has(name)) validateName(name);
    if (BAD_VALUE.test(value)) throw new InvalidRequestError('a header holds a byte that cannot be sent');
    head += `${name}: ${value}\r\n`;
  }
  if (framing === -1) return `${head}\r\n`;
  if (framing === 'chunked') return `${head}transfer-encoding: chunked\r\n\r\n`;
  return `${head}content-length: ${framing}\r\n\r\n`;
}

function validateName(name: string): void {
  if (!NAME.test(name)) throw new InvalidRequestError('a header without a proper name');
  if (validNames.size < NAMES_MAX && name.length <= 64) validNames.add(name);
}

/** The length to declare: methods that usually carry a body say so when it is empty (RFC 9110 §8.6). */
export function contentLengthOf(method: string, body: Buffer | null): number {
  if (body !== null && body.length > 0) return body.length;
  return method === 'POST' || method === 'PUT' || method === 'PATCH' ? 0 : -1;
}

/** The content length among the headers of a request whose body streams, bytes; -1: there is none. */
export function findContentLength(headers: readonly string[]): number {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (headers[i]!.toLowerCase() === 'content-length') return Number(headers[i + 1]);
  }
  return -1;
}
