/**
 * One HTTP/1.1 connection to an upstream, one request at a time. A request whose body is at hand is one write; what comes
 * back is read out of one buffer that all connections share, without a stream, a timer or a promise per call: undici
 * needs 13 µs for what takes 8 here (bench/RESULTS.md).
 */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { SocketReadHandler } from '@acg/base/dialer/dialer';
import { type BodySenderOwner, RequestBodySender } from './request-body-sender.js';
import { contentLengthOf, findContentLength, formatRequestHead } from './request-head.js';
import { ResponseParser, type ResponseSink } from './response-parser.js';
import type { UpstreamConnection, UpstreamRequest, UpstreamResponseHandler } from './upstream-request.js';

/** Opens the socket, which reads by the {@link SocketReadHandler}; calls back once. */
export type SocketOpener = (
  onread: SocketReadHandler,
  done: (error: Error | null, socket: Socket | null) => void,
) => void;

/** Ticks ({@link Http1Connection.tick}) without a head or a piece of a body; single bytes of a head gain no time. */
export interface TickTimeouts {
  readonly headTicks: number;
  readonly bodyTicks: number;
  readonly idleTicks: number;
  readonly idleTicksMax: number;
  /** A connection that is older carries no further call. */
  readonly ageTicks: number;
  readonly ticksPerSec: number;
}

interface EncodedRequest {
  readonly method: string;
  readonly head: string;
  readonly body: Buffer | Readable | null;
  /** Of a body that streams: declared, bytes; -1: chunked. */
  readonly streamedBytes: number;
  /** The connection carries no further call. */
  readonly closesConnection: boolean;
}

export interface ConnectionOwner {
  /** The call is over. */
  onReleased(connection: Http1Connection): void;
  /** Will never carry another call. */
  onClosed(connection: Http1Connection): void;
}

/** The upstream sent nothing for too long. */
class UpstreamTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The upstream ended the connection before its answer was complete. */
class ConnectionLost extends Error {}

const READ_BYTES = 64 * 1024;
/** Up to here head and body are joined: one write of one piece. */
const JOINED_BYTES_MAX = 8 * 1024;
/** A server that says when it closes is not given a request in the last moment. */
const KEEP_ALIVE_MARGIN_SEC = 2;
/** Every read is handled before the next begins. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

export class Http1Connection implements UpstreamConnection, ResponseSink, BodySenderOwner {
  readonly #host: string;
  readonly #open: SocketOpener;
  readonly #limits: TickTimeouts;
  readonly #owner: ConnectionOwner;
  #reader = new ResponseParser(this);
  #socket: Socket | null = null;
  /** Waits for the socket. */
  #pendingRequest: EncodedRequest | null = null;
  /** What may be sent once more if the connection turns out to have been dead; null from the first byte back on. */
  #retryableRequest: EncodedRequest | null = null;
  /** Of the body that streams now. */
  #sender: RequestBodySender | null = null;
  /** Carried a call before. */
  #isReused = false;
  #ageTicks = 0;
  /** Of the call under way. */
  #handler: UpstreamResponseHandler | null = null;
  #quietTicks = 0;
  #quietTicksMax = 0;
  /** The connection ends with the call under way. */
  #closes = false;
  #paused = false;
  #dead = false;

  /** `host`: for the header of that name. */
  constructor(host: string, open: SocketOpener, limits: TickTimeouts, owner: ConnectionOwner) {
    this.#host = host;
    this.#open = open;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** Throws `InvalidRequest` before anything was sent. */
  dispatch(call: UpstreamRequest, handler: UpstreamResponseHandler): void {
    const request = encodeRequest(call, this.#host);
    this.#handler = handler;
    if (this.#socket === null) {
      this.#pendingRequest = request;
      this.#open({ buffer: readBuffer, callback: this.#onRead }, this.#onOpen);
      return;
    }
    if (this.#isReused && canRetry(call)) this.#retryableRequest = request;
    this.#send(request);
  }

  release(): void {
    this.#owner.onReleased(this);
  }

  /** Every byte of the call's request has been handed to the system. */
  get isRequestSent(): boolean {
    return (
      this.#socket !== null &&
      this.#pendingRequest === null &&
      this.#sender === null &&
      this.#socket.writableLength === 0
    );
  }

  /** Whether another call may go out on it. */
  get isUsable(): boolean {
    return !this.#dead && this.#handler === null;
  }

  get isConnected(): boolean {
    return this.#socket !== null;
  }

  close(): void {
    this.#retryableRequest = null;
    this.#fail(new ConnectionLost('closed'));
  }

  /** Time passes: ends what has been quiet for too long. */
  tick(): void {
    this.#ageTicks++;
    if (this.#sender?.isWaitingForAgent === true) this.#quietTicks = 0;
    if (this.#paused || this.#socket === null || ++this.#quietTicks <= this.#quietTicksMax) return;
    this.#retryableRequest = null;
    this.#fail(new UpstreamTimeout('the upstream sent nothing for too long'));
  }

  onHead(status: number, rawHeaders: string[]): void {
    this.#quietTicks = 0;
    if (status >= 200) {
      this.#quietTicksMax = this.#limits.bodyTicks;
      // An upstream that answers before it has read the body may never read it, and take its rest for the next request.
      if (!this.isRequestSent) this.#closes = true;
    }
    this.#handler!.onHeaders(status, rawHeaders, this.#resume);
  }

  onBody(bytes: Buffer): void {
    this.#quietTicks = 0;
    if (!this.#handler!.onData(bytes)) this.#paused = true;
  }

  onBodySent(): void {
    this.#sender = null;
    this.#quietTicks = 0;
  }

  onBodyFailed(error: Error): void {
    this.#sender = null;
    this.#fail(error);
  }

  onEnd(): void {
    const handler = this.#handler!;
    this.#handler = null;
    const paused = this.#paused;
    this.#paused = false;
    if (this.#reader.isConnectionReusable && !this.#closes) this.#becomeIdle(paused);
    else this.#destroy();
    try {
      handler.onComplete();
    } catch (error) {
      handler.onError(error as Error); // a bug costs its call, not the agent's patience
    }
  }

  /** Holds nothing of the first call: who dialled keeps it as long as the socket lives. */
  readonly #onOpen = (error: Error | null, socket: Socket | null): void => {
    const first = this.#pendingRequest!;
    this.#pendingRequest = null;
    if (error !== null) {
      this.#fail(error);
      return;
    }
    this.#attach(socket!);
    if (this.#dead) socket!.destroy();
    else this.#send(first);
  };

  #attach(socket: Socket): void {
    this.#socket = socket;
    // One that was given up for a fresh one has nothing more to say.
    const onGone = (): void => void (this.#socket === socket && this.#onGone());
    socket.on('end', onGone);
    socket.on('close', onGone);
    socket.on('error', (error) => void (this.#socket === socket && this.#fail(error)));
  }

  #send(request: EncodedRequest): void {
    const { method, head, body } = request;
    const socket = this.#socket!;
    this.#handler!.onConnect(this.#abort);
    if (this.#dead) return;
    this.#reader.begin(method);
    this.#closes = request.closesConnection;
    this.#quietTicks = 0;
    this.#quietTicksMax = this.#limits.headTicks;
    if (body === null) {
      socket.write(head, 'latin1');
    } else if (!Buffer.isBuffer(body)) {
      socket.write(head, 'latin1');
      this.#sender = new RequestBodySender(socket, body, request.streamedBytes, this);
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

  readonly #onRead = (length: number, bytes: Uint8Array): boolean => {
    this.#retryableRequest = null;
    try {
      this.#reader.push(bytes as Buffer, length);
    } catch (error) {
      this.#fail(error as Error);
    }
    if (this.#handler === null && !this.#reader.isConnectionReusable) this.#destroy();
    return !this.#paused;
  };

  readonly #resume = (): void => {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket!.resume();
  };

  readonly #abort = (error?: Error): void => {
    this.#retryableRequest = null;
    this.#fail(error ?? new ConnectionLost('aborted'));
  };

  #onGone(): void {
    if (this.#dead) return;
    if (!this.#reader.end()) this.#fail(new ConnectionLost('the upstream closed the connection'));
    else this.#destroy();
  }

  /** Between two calls. */
  #becomeIdle(paused: boolean): void {
    // A TLS socket that was paused goes on to hand over what it has deciphered already: the end may be in it.
    if (paused) this.#socket!.resume();
    const { idleTicks, idleTicksMax, ageTicks, ticksPerSec } = this.#limits;
    this.#isReused = true;
    const said = this.#reader.keepAliveSec;
    if (this.#ageTicks >= ageTicks || (said !== -1 && said <= KEEP_ALIVE_MARGIN_SEC)) {
      this.#destroy();
      return;
    }
    this.#quietTicks = 0;
    this.#quietTicksMax =
      said === -1 ? idleTicks : Math.min(idleTicksMax, (said - KEEP_ALIVE_MARGIN_SEC) * ticksPerSec);
  }

  #fail(error: Error): void {
    if (this.#retryableRequest !== null && !this.#dead) {
      this.#retryOnNewSocket(this.#retryableRequest);
      return;
    }
    const handler = this.#handler;
    this.#handler = null;
    this.#destroy();
    handler?.onError(error);
  }

  /** The upstream had closed the connection before the request came: that says nothing of the upstream. */
  #retryOnNewSocket(request: EncodedRequest): void {
    const dead = this.#socket!;
    this.#retryableRequest = null;
    this.#socket = null;
    dead.destroy();
    this.#reader.stop();
    this.#reader = new ResponseParser(this);
    this.#isReused = false;
    this.#ageTicks = 0;
    this.#pendingRequest = request;
    this.#open({ buffer: readBuffer, callback: this.#onRead }, this.#onOpen);
  }

  #destroy(): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#paused = false;
    this.#reader.stop();
    this.#sender?.stop();
    this.#sender = null;
    if (isStream(this.#pendingRequest?.body)) this.#pendingRequest.body.destroy();
    this.#socket?.destroy();
    this.#owner.onClosed(this);
  }
}

/** Throws `InvalidRequest`. */
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

/** A body means nothing in them (RFC 9110 §9.3): some servers do not read it, and take it for the next request. */
const BODY_UNEXPECTED: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

/** The connection must not carry another call. Some servers send a body with their answer to HEAD. */
const mustCloseAfter = (method: string, hasBody: boolean): boolean =>
  method === 'HEAD' || (hasBody && BODY_UNEXPECTED.has(method));

const isStream = (body: Buffer | Readable | null | undefined): body is Readable =>
  body != null && !Buffer.isBuffer(body);

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/**
 * Sent twice it means what it means once: by its method, and without a condition that the first one may have changed. A
 * body that streams is gone after the first time.
 */
function canRetry({ method, headers, body }: UpstreamRequest): boolean {
  if (!IDEMPOTENT.has(method) || isStream(body)) return false;
  for (let i = 0; i < headers.length; i += 2) if (/^if-/i.test(headers[i]!)) return false;
  return true;
}
