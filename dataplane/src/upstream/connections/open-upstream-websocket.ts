/** Opens WebSocket connections to upstreams. The only module that imports `ws`. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

export type UpstreamWebSocket = WebSocket;

/** Emits the bytes that arrive from the upstream. */
export interface UpstreamReads {
  on(event: 'data', read: (chunk: Buffer) => void): unknown;
}

/**
 * Bytes of payload per fragment that the fragment limit assumes. Each fragment of an unfinished message costs about 250
 * bytes of overhead, so a message may have at most one fragment per KiB.
 */
const FRAME_BYTES = 1_024;

interface UpstreamWebSocketOptions {
  /** `http(s)://host[:port]`. */
  readonly origin: string;
  /** Raw request target; never normalized. */
  readonly path: string;
  /** Flat `[name, value, …]`, without the headers of the WebSocket handshake. */
  readonly headers: readonly string[];
  readonly protocols: readonly string[];
  /** A standing TCP or TLS connection, on which nothing was sent. */
  readonly connection: Socket;
  /** Milliseconds for the response head and, when the upstream rejects the handshake, the response body. */
  readonly handshakeTimeoutMs: number;
  readonly messageBytesMax: number;
}

/** The upstream did not answer the handshake within `handshakeTimeoutMs`. */
class HandshakeTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

interface UpstreamWebSocketObserver {
  /** `reads` emits `data` to later listeners after the socket's own listeners. */
  onOpen(socket: UpstreamWebSocket, reads: UpstreamReads): void;
  /** The upstream answered the handshake with a status other than 101. */
  onRejected(response: IncomingMessage): void;
  onError(error: Error): void;
}

/**
 * Sends the handshake, in this turn of the event loop. Calls exactly one method of the observer, unless the caller
 * terminates the socket before.
 */
export function connectUpstreamWebSocket(
  options: UpstreamWebSocketOptions,
  observer: UpstreamWebSocketObserver,
): UpstreamWebSocket {
  const socket = new WebSocket(options.origin.replace(/^http/, 'ws'), [...options.protocols], {
    headers: toHeaderObject(options.headers),
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: options.messageBytesMax,
    maxFragments: Math.ceil(options.messageBytesMax / FRAME_BYTES),
    skipUTF8Validation: true,
    autoPong: false, // The relay answers pings itself and counts the queued bytes.
    createConnection: () => options.connection,
    // `ws` takes its target from a parsed URL, which normalizes. This sends the raw target byte for byte.
    finishRequest: (request: ClientRequest) => {
      request.path = options.path;
      request.end();
    },
  });
  let reported = false;
  let rejection: IncomingMessage | null = null;
  const once = (report: () => void): void => {
    if (reported) return;
    reported = true;
    if (rejection === null) clearTimeout(timer);
    report();
  };
  // `handshakeTimeout` of `ws` works only for connections that `ws` opens itself.
  const timer = setTimeout(() => {
    if (rejection !== null) {
      rejection.destroy();
      return;
    }
    once(() => observer.onError(new HandshakeTimeout('no answer to the handshake in time')));
    socket.terminate();
  }, options.handshakeTimeoutMs);
  socket.on('open', () => once(() => observer.onOpen(socket, options.connection)));
  socket.on('unexpected-response', (_request, response) => {
    rejection = response;
    response.once('close', () => clearTimeout(timer));
    once(() => observer.onRejected(response));
  });
  socket.on('error', (error) => once(() => observer.onError(error)));
  return socket;
}

/** Converts the flat array to the object form of `node:http`. Repeated names become lists. */
function toHeaderObject(flat: readonly string[]): Record<string, string | string[]> {
  const headers = Object.create(null) as Record<string, string | string[]>; // `constructor` is a valid header name
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const value = flat[i + 1]!;
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value];
  }
  return headers;
}
