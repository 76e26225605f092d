/**
 * One HTTP/1.1 connection to an upstream, one request at a time. Sends a request with a buffered body in one write, and
 * reads responses from one buffer that all connections share. Needs no stream, timer or promise per call: undici takes
 * 13 µs for what takes 8 µs here (bench/RESULTS.md).
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SocketReadHandler } from '@acg/base/dialer/dialer';
import { contentLengthOf, findContentLength, formatRequestHead } from './format-request-head.js';
import { type BodySenderOwner, RequestBodySender } from './request-body-sender.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';
import type { UpstreamConnection, UpstreamRequest, UpstreamResponseHandler } from './upstream-request-interface.js';

/** Opens the socket, which delivers reads to `onread`; null: to its listeners of `data`. Calls `done` once. */
export type SocketOpener = (
  onread: SocketReadHandler | null,
  done: (error: Error | null, socket: Socket | null) => void,
) => void;

/**
 * Timeouts in ticks ({@link Http1Connection.tick}) without a complete head or a piece of body. Single bytes of a head
 * do not extend the time.
 */
export interface TickTimeouts {
  readonly headTicks: number;
  readonly bodyTicks: number;
  readonly idleTicks: number;
  readonly idleTicksMax: number;
  /** An older connection carries no further call. */
  readonly ageTicks: number;
  readonly ticksPerSec: number;
}

interface EncodedRequest {
  readonly method: string;
  readonly head: string;
  readonly body: Buffer | Readable | null;
  /** For a streamed body: declared length in bytes, or -1 for chunked. */
  readonly streamedBytes: number;
  /** The connection closes after this call. */
  readonly closesConnection: boolean;
}

export interface ConnectionOwner {
  /** The call released the connection. */
  onReleased(connection: Http1Connection): void;
  /** The connection closed, or will never carry another call. */
  onClosed(connection: Http1Connection): void;
}

/** The upstream sent nothing for too long. */
class UpstreamTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The upstream closed the connection before the response was complete. */
class ConnectionLost extends Error {}

const READ_BYTES = 64 * 1024;
/** Up to this length, head and body are joined into one string for one write. */
const JOINED_BYTES_MAX = 8 * 1024;
/** Subtracted from the server's keep-alive timeout, so that no request is sent just before the server closes. */
const KEEP_ALIVE_MARGIN_SEC = 2;
/** Shared by all connections: each read is handled before the next begins. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

export class Http1Connection implements UpstreamConnection, ResponseSink, BodySenderOwner {
  readonly #host: string;
  readonly #open: SocketOpener;
  readonly #timeouts: TickTimeouts;
  readonly #owner: ConnectionOwner;
  readonly #isForUpgrade: boolean;
  readonly #reader = new ResponseParser(this);
  #socket: Socket | null = null;
  /** Waits for the socket to connect. */
  #onConnected: ((error: Error | null) => void) | null = null;
  /** Sender of the streamed body in progress. */
  #sender: RequestBodySender | null = null;
  /** Whether the connection was released before: the upstream may have closed it unseen. */
  #isKept = false;
  /** Of a kept connection: no byte of the response has arrived, and only the upstream can have closed it. */
  #mayBeStale = false;
  #wasStale = false;
  #ageTicks = 0;
  /** Handler of the current call; null when idle. */
  #handler: UpstreamResponseHandler | null = null;
  #silentTicks = 0;
  #silentTicksMax = 0;
  /** Whether the connection closes after the current call. */
  #closesAfterCall = false;
  #isPaused = false;
  #isDestroyed = false;

  /** `host`: value of the host header. `isForUpgrade`: for {@link takeSocket}, never for `dispatch`. */
  constructor(host: string, open: SocketOpener, timeouts: TickTimeouts, owner: ConnectionOwner, isForUpgrade = false) {
    this.#host = host;
    this.#open = open;
    this.#timeouts = timeouts;
    this.#owner = owner;
    this.#isForUpgrade = isForUpgrade;
  }

  connect(done: (error: Error | null) => void): void {
    this.#onConnected = done;
    this.#open(this.#isForUpgrade ? null : { buffer: readBuffer, callback: this.#onRead }, this.#onOpen);
  }

  dispatch(call: UpstreamRequest, handler: UpstreamResponseHandler): void {
    const { method, head, body, streamedBytes, closesConnection } = encodeRequest(call, this.#host);
    const socket = this.#socket!;
    this.#handler = handler;
    handler.onConnect(this.#abort);
    if (this.#isDestroyed) return;
    this.#mayBeStale = this.#isKept;
    this.#reader.begin(method);
    this.#closesAfterCall = closesConnection;
    this.#silentTicks = 0;
    this.#silentTicksMax = this.#timeouts.headTicks;
    if (body === null) {
      socket.write(head, 'latin1');
    } else if (!Buffer.isBuffer(body)) {
      socket.write(head, 'latin1');
      this.#sender = new RequestBodySender(socket, body, streamedBytes, this);
      this.#sender.start();
    } else if (body.length <= JOINED_BYTES_MAX) {
      socket.write(head + body.toString('latin1'), 'latin1');
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  takeSocket(): Socket {
    const socket = this.#socket!;
    this.#socket = null;
    socket.off('end', this.#onSocketClosed).off('close', this.#onSocketClosed).off('data', this.#onUnrequestedData);
    this.#destroy();
    return socket;
  }

  release(): void {
    this.#isKept = true;
    this.#owner.onReleased(this);
  }

  get isRequestSent(): boolean {
    return this.#socket !== null && this.#sender === null && this.#socket.writableLength === 0;
  }

  /** Whether another call may use this connection. */
  get isUsable(): boolean {
    return !this.#isDestroyed && this.#handler === null;
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  get isKept(): boolean {
    return this.#isKept;
  }

  get wasStale(): boolean {
    return this.#wasStale;
  }

  close(): void {
    this.#mayBeStale = false;
    this.#fail(new ConnectionLost('closed'));
  }

  /** Advances the time. Closes the connection after too many ticks of silence. */
  tick(): void {
    this.#ageTicks++;
    if (this.#sender?.isWaitingForAgent === true) this.#silentTicks = 0;
    if (this.#isPaused || this.#socket === null || ++this.#silentTicks <= this.#silentTicksMax) return;
    this.#mayBeStale = false;
    this.#fail(new UpstreamTimeout('the upstream sent nothing for too long'));
  }

  onHead(status: number, rawHeaders: string[]): void {
    this.#silentTicks = 0;
    if (status >= 200) {
      this.#silentTicksMax = this.#timeouts.bodyTicks;
      // An upstream that responds before it has read the body may never read it, and take the rest for the next
      // request.
      if (!this.isRequestSent) this.#closesAfterCall = true;
    }
    this.#handler!.onHeaders(status, rawHeaders, this.#resume);
  }

  onBody(bytes: Buffer): void {
    this.#silentTicks = 0;
    if (!this.#handler!.onData(bytes)) this.#isPaused = true;
  }

  onBodySent(): void {
    this.#sender = null;
    this.#silentTicks = 0;
  }

  onBodyFailed(error: Error): void {
    this.#sender = null;
    this.#mayBeStale = false;
    this.#fail(error);
  }

  onEnd(): void {
    const handler = this.#handler!;
    this.#handler = null;
    const paused = this.#isPaused;
    this.#isPaused = false;
    if (this.#reader.isConnectionReusable && !this.#closesAfterCall) this.#becomeIdle(paused);
    else this.#destroy();
    try {
      handler.onComplete();
    } catch (error) {
      handler.onError(error as Error); // the error of a bug is reported for its call only
    }
  }

  /** Must not capture the first call: the dialer keeps this function for the socket's lifetime. */
  readonly #onOpen = (error: Error | null, socket: Socket | null): void => {
    if (this.#isDestroyed) {
      socket?.destroy();
      return;
    }
    if (error !== null) {
      this.#fail(error);
      return;
    }
    this.#attach(socket!);
    this.#silentTicks = 0;
    this.#silentTicksMax = this.#timeouts.idleTicks;
    this.#reportConnected(null);
  };

  #attach(socket: Socket): void {
    this.#socket = socket;
    socket.on('end', this.#onSocketClosed);
    socket.on('close', this.#onSocketClosed);
    socket.on('error', (error) => this.#fail(error));
    // Without a reader the socket would not notice that the upstream closes it.
    if (this.#isForUpgrade) socket.on('data', this.#onUnrequestedData);
  }

  #reportConnected(error: Error | null): void {
    const done = this.#onConnected;
    this.#onConnected = null;
    done?.(error);
  }

  readonly #onRead = (length: number, bytes: Uint8Array): boolean => {
    this.#mayBeStale = false;
    try {
      this.#reader.push(bytes as Buffer, length);
    } catch (error) {
      this.#fail(error as Error);
    }
    if (this.#handler === null && !this.#reader.isConnectionReusable) this.#onUnrequestedData();
    return !this.#isPaused;
  };

  readonly #resume = (): void => {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket!.resume();
  };

  readonly #abort = (error?: Error): void => {
    this.#mayBeStale = false;
    this.#fail(error ?? new ConnectionLost('aborted'));
  };

  readonly #onSocketClosed = (): void => {
    if (this.#isDestroyed) return;
    if (!this.#reader.end()) this.#fail(new ConnectionLost('the upstream closed the connection'));
    else this.#destroy();
  };

  readonly #onUnrequestedData = (): void => this.#fail(new ConnectionLost('the upstream sent bytes before a request'));

  /** Prepares for the next call. */
  #becomeIdle(paused: boolean): void {
    // A paused TLS socket still delivers the bytes that it has already decrypted, which may include the end of the
    // response. So the state here can be paused, and the socket must resume.
    if (paused) this.#socket!.resume();
    const { idleTicks, idleTicksMax, ageTicks, ticksPerSec } = this.#timeouts;
    const announcedSec = this.#reader.keepAliveSec;
    if (this.#ageTicks >= ageTicks || (announcedSec !== -1 && announcedSec <= KEEP_ALIVE_MARGIN_SEC)) {
      this.#destroy();
      return;
    }
    this.#silentTicks = 0;
    this.#silentTicksMax =
      announcedSec === -1 ? idleTicks : Math.min(idleTicksMax, (announcedSec - KEEP_ALIVE_MARGIN_SEC) * ticksPerSec);
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#handler = null;
    if (handler !== null) this.#wasStale = this.#mayBeStale;
    this.#destroy();
    this.#reportConnected(error);
    handler?.onError(error);
  }

  #destroy(): void {
    if (this.#isDestroyed) return;
    this.#isDestroyed = true;
    this.#isPaused = false;
    this.#reader.stop();
    this.#sender?.stop();
    this.#sender = null;
    this.#socket?.destroy();
    this.#owner.onClosed(this);
  }
}

/** Throws InvalidRequestError. */
function encodeRequest({ method, path, headers, body }: UpstreamRequest, host: string): EncodedRequest {
  if (!isStream(body)) {
    const whole = body?.length === 0 ? null : body;
    const closes = mustCloseAfter(method, whole !== null);
    const head = formatRequestHead(method, path, host, headers, contentLengthOf(method, body), closes);
    return { method, head, body: whole, streamedBytes: 0, closesConnection: closes };
  }
  const streamedBytes = findContentLength(headers);
  const closes = mustCloseAfter(method, true);
  const head = formatRequestHead(method, path, host, headers, streamedBytes === -1 ? 'chunked' : -1, closes);
  return { method, head, body, streamedBytes, closesConnection: closes };
}

/**
 * Methods whose body has no meaning (RFC 9110 §9.3). Some servers do not read such a body and take it for the next
 * request.
 */
const BODY_UNEXPECTED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** Whether the connection must close after the call. Some servers send a body with their response to HEAD. */
const mustCloseAfter = (method: string, hasBody: boolean): boolean =>
  method === 'HEAD' || (hasBody && BODY_UNEXPECTED.has(method));

const isStream = (body: Buffer | Readable | null | undefined): body is Readable =>
  body != null && !Buffer.isBuffer(body);

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Whether sending the request twice has the effect of sending it once: idempotent method, and no condition that the
 * first one may have changed. A streamed body cannot be sent twice.
 */
export function isRepeatable({ method, headers, body }: UpstreamRequest): boolean {
  if (!IDEMPOTENT.has(method) || isStream(body)) return false;
  for (let i = 0; i < headers.length; i += 2) if (/^if-/i.test(headers[i]!)) return false;
  return true;
}
