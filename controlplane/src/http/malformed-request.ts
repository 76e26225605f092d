/**
 * Responds to input that is not a readable HTTP request, with `{ error }` as everywhere
 * (docs/contract.md#management-api).
 */
import type { Socket } from 'node:net';

function buildResponse(status: string, error: string): Buffer {
  const body = JSON.stringify({ error });
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `cache-control: no-store\r\nx-content-type-options: nosniff\r\nconnection: close\r\n\r\n${body}`,
  );
}

const MALFORMED = buildResponse('400 Bad Request', 'the request is not valid HTTP/1.1');
const BY_CODE: Readonly<Record<string, Buffer>> = {
  HPE_HEADER_OVERFLOW: buildResponse('431 Request Header Fields Too Large', 'the headers of the request are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: buildResponse('408 Request Timeout', 'the request did not arrive in time'),
};

/** Handler of Node's `clientError`: responds if the socket is still writable, and closes it. */
export function rejectMalformedRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(BY_CODE[error.code ?? ''] ?? MALFORMED);
  socket.destroy(error);
}
