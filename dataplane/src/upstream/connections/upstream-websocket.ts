/** WebSocket connections to upstreams. The only importer of `ws`. */
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

export type UpstreamWebSocket = WebSocket;

/** What is read of the upstream, as it comes. */
export interface UpstreamReads {
  on(event: 'data', read: (chunk: Buffer) => void): unknown;
}

/** Each frame of an unfinished message costs some 250 bytes beside its own: at most as many frames as KiB. */
const FRAME_BYTES = 1_024;

interface UpstreamWebSocketOptions {
  /** `http(s)://host[:port]`. */
  readonly origin: string;
  /** Raw request target; never normalised. */
  readonly path: string;
  /** Flat `[name, value, …]` without the handshake's own. */
  readonly headers: readonly string[];
  readonly protocols: readonly string[];
  /** Opens the connection; calls back once. */
  readonly dial: (done: (error: Error | null, socket: Socket | null) => void) => void;
  /** For all of it: connecting, the answer's head and, where that is a refusal, its body. */
  readonly handshakeTimeoutMs: number;
  readonly messageBytesMax: number;
}

/** The upstream has not answered the handshake. */
class HandshakeTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

interface UpstreamWebSocketObserver {
  /** Reads are told after the socket's own listeners have had them. */
  onOpen(socket: UpstreamWebSocket, reads: UpstreamReads): void;
  /** The upstream answered the handshake with something else than 101. */
  onRejected(response: IncomingMessage): void;
  onError(error: Error): void;
}

/** Starts the handshake; exactly one of the observer's methods is called, unless the socket is terminated before. */
export function connectUpstreamWebSocket(
  dial: UpstreamWebSocketOptions,
  observer: UpstreamWebSocketObserver,
): UpstreamWebSocket {
  let connection: Socket | null = null;
  const socket = new WebSocket(dial.origin.replace(/^http/, 'ws'), [...dial.protocols], {
    headers: toHeaderObject(dial.headers),
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: dial.messageBytesMax,
    maxFragments: Math.ceil(dial.messageBytesMax / FRAME_BYTES),
    skipUTF8Validation: true,
    autoPong: false, // whoever has the socket answers, and counts what waits
    createConnection: ((_options: unknown, done: (error: Error | null, socket?: Socket) => void) => {
      dial.dial((error, connected) => {
        connection = connected;
        if (error === null) done(null, connected!);
        else done(error);
      });
      return undefined;
    }) as never,
    // The library takes its target from a parsed URL, which normalises: ours goes out byte for byte.
    finishRequest: (request: ClientRequest) => {
      request.path = dial.path;
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
  // The library's own timeout is that of a connection which it opens itself.
  const timer = setTimeout(() => {
    if (rejection !== null) {
      rejection.destroy();
      return;
    }
    once(() => observer.onError(new HandshakeTimeout('no answer to the handshake in time')));
    socket.terminate();
  }, dial.handshakeTimeoutMs);
  socket.on('open', () => once(() => observer.onOpen(socket, connection!)));
  socket.on('unexpected-response', (_request, response) => {
    rejection = response;
    response.once('close', () => clearTimeout(timer));
    once(() => observer.onRejected(response));
  });
  socket.on('error', (error) => once(() => observer.onError(error)));
  return socket;
}

/** Repeated names become lists, as `node:http` wants them. */
function toHeaderObject(flat: readonly string[]): Record<string, string | string[]> {
  const headers = Object.create(null) as Record<string, string | string[]>; // `constructor` is a header like any other
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!;
    const value = flat[i + 1]!;
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : [...(Array.isArray(earlier) ? earlier : [earlier]), value];
  }
  return headers;
}
