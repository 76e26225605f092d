/**
 * One WebSocket between an agent and an upstream. Frames are forwarded as messages, both ways.
 *
 *   upstream ─▶ mask the credential ─▶ agent       a slow agent pauses the upstream
 *   agent ─▶ supabase: access tokens become the key ─▶ upstream   (see replace-supabase-access-token.ts)
 *
 * The server cannot stop reading an agent's socket, so the bytes that wait for a slow upstream are bounded. Past the
 * bound both sides are closed. Held bytes are counted in a memory pool of all organizations (memory-pool.ts); a session
 * that may not hold more ends. A session is booked once, when it ends. Its memory is released when both connections
 * have closed.
 */
import type { RoutedExchange } from '../call/exchange.js';
import type { UpstreamReads, UpstreamWebSocket } from '../upstream/connections/open-upstream-websocket.js';
import { type CredentialMaskPatterns, maskBuffer } from '../upstream/masking/credential-mask.js';
import { AgentOutbox, type AgentSocket } from './agent-outbox.js';
import type { MemoryAllocation, MemoryPool } from './memory-pool.js';
import { replaceAccessToken } from './replace-supabase-access-token.js';

/** Messages of maximum size that may wait for an upstream. */
const QUEUED_MESSAGES_MAX = 4;
/** Memory that the library uses beside the bytes of one read; measured with one byte each. */
const READ_OVERHEAD_BYTES = 512;
/** Bytes of a ping or pong of the upstream before its data. */
const CONTROL_HEAD_BYTES = 2;
/** Memory of a message that waits for the upstream, beside its bytes; measured with one byte each. */
export const UNSENT_OVERHEAD_BYTES = 256;
/** Close codes of RFC 6455 that mean "no code was sent" and must not be sent themselves. */
const UNSENDABLE_CLOSE_CODES: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);
const NORMAL = 1000;
const GOING_AWAY = 1001;
const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;
const TOO_SLOW_MESSAGE = 'the agent is too slow';
/** Close reason of the server when an agent's message is too big. It closes the connection without a code. */
const TOO_BIG_CLOSE_REASON = 'Received too big message';
/** Error codes of the library for a message that is too long or has too many frames. */
const TOO_BIG_ERROR_CODES: ReadonlySet<unknown> = new Set([
  'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH',
  'WS_ERR_TOO_MANY_BUFFERED_PARTS',
]);

/** Time that the server keeps the connection of an agent that does not close it after the close frame, ms. */
export interface LingerTimeouts {
  readonly lingerMs: number;
  /** The same with unread bytes. Each byte that the agent reads extends the time. */
  readonly unreadLingerMs: number;
}

interface SessionDeps {
  readonly forms: CredentialMaskPatterns;
  readonly messageBytesMax: number;
  readonly memoryPool: Pick<MemoryPool, 'allocate'>;
  readonly lingerTimeouts: LingerTimeouts;
  /** The session has ended and is to be booked. */
  readonly onEnd: (session: WebSocketSession) => void;
  /** Both connections have closed. */
  readonly onDisconnected: (session: WebSocketSession) => void;
}

export interface SessionUserData {
  readonly session: WebSocketSession;
}

export class WebSocketSession {
  readonly exchange: RoutedExchange;
  readonly #upstream: UpstreamWebSocket;
  readonly #deps: SessionDeps;
  readonly #allocation: MemoryAllocation;
  /** Replaces the gateway token as the access token of a supabase client; null = messages pass unchanged. */
  readonly #accessToken: string | null;
  readonly #gatewayToken: Buffer;
  #agent: AgentSocket | null = null;
  #outbox: AgentOutbox | null = null;
  /** The server held unread bytes for the agent when its side ended. */
  #hadUnreadBytes = false;
  /**
   * Bytes read from the upstream since its last whole message, without the rest of the read in which that message
   * ended.
   */
  #unfinishedBytes = 0;
  /** Bytes of pings and pongs in the current read. */
  #controlBytes = 0;
  /** Messages and pongs that the upstream's socket has not taken. */
  #unsent = 0;
  /** A message has ended in the current read. */
  #messageEnded = false;
  /** The upstream has closed, and the agent still has to get its last messages. */
  #closing: { readonly code: number; readonly reason: string } | null = null;
  #hasEnded = false;
  #isUpstreamDisconnected = false;
  #isAgentDisconnected = true;
  #isReleased = false;

  constructor(exchange: RoutedExchange, upstream: UpstreamWebSocket, reads: UpstreamReads, deps: SessionDeps) {
    this.exchange = exchange;
    this.#upstream = upstream;
    this.#deps = deps;
    this.#allocation = deps.memoryPool.allocate(exchange.routed.context.orgId, () => this.#onMemoryReclaimed());
    const { tokenPosition: position, upstream: upstreamAccount } = exchange.routed;
    const { injection } = upstreamAccount;
    const bearer = injection.kind === 'header' ? injection.bearerUnlessUserJwt : null;
    this.#accessToken = bearer === null ? null : bearer.slice('Bearer '.length);
    this.#gatewayToken = Buffer.from(position.gatewayToken);
    upstream.pause(); // until the agent's side is open
    upstream.on('message', (data, isBinary) => this.#sendToAgent(data as Buffer, isBinary));
    upstream.on('ping', (data) => this.#onPing(data));
    upstream.on('pong', (data) => this.#onControl(data));
    upstream.on('close', (code, reason) => this.#onUpstreamClose(code, reason));
    upstream.on('error', (error) => this.#onUpstreamError(error));
    reads.on('data', (chunk) => this.#onUpstreamRead(chunk.length));
  }

  /** Subprotocol that the upstream chose. */
  get protocol(): string {
    return this.#upstream.protocol;
  }

  onAgentOpen(agent: AgentSocket): void {
    this.#agent = agent;
    this.#isAgentDisconnected = false;
    this.#outbox = new AgentOutbox(agent);
    this.#upstream.resume();
  }

  /** Forwards a message of the agent. Its buffer belongs to the server and must be copied. */
  onAgentMessage(message: ArrayBuffer, isBinary: boolean): void {
    if (this.#hasEnded || this.#closing !== null) return;
    this.exchange.metering.bytesIn += message.byteLength;
    // Bytes that are sent after the upstream's close go nowhere, and the library would count them forever.
    if (this.#upstream.readyState !== this.#upstream.OPEN) return;
    const bytes = Buffer.from(new Uint8Array(message));
    const repeatsKey = this.#accessToken !== null && !isBinary;
    const outgoing = repeatsKey ? replaceAccessToken(bytes, this.#gatewayToken, this.#accessToken) : bytes;
    this.#unsent++;
    this.#upstream.send(outgoing, { binary: isBinary }, this.#onSent);
    const bytesMax = QUEUED_MESSAGES_MAX * this.#deps.messageBytesMax;
    const isTooMuch = this.#upstream.bufferedAmount > bytesMax || !this.#updateAllocation();
    if (isTooMuch) this.close(TRY_AGAIN_LATER, 'the provider is too slow');
  }

  /** The agent's socket has taken bytes, or the server has written its own to it. */
  onAgentWritable(): void {
    if (this.#hasEnded) return;
    const outbox = this.#outbox!; // Not null until the session ends.
    outbox.onSocketChange();
    if (outbox.hasDropped || !this.#updateAllocation()) this.close(TRY_AGAIN_LATER, TOO_SLOW_MESSAGE);
    else if (!outbox.isEmpty) this.#upstream.pause();
    else if (this.#closing === null) this.#upstream.resume();
    else this.#finishClosing(this.#closing.code, this.#closing.reason);
  }

  onAgentClose(code: number, reason: ArrayBuffer): void {
    this.#detachAgent();
    if (this.#hasEnded) return;
    const text = Buffer.from(reason).toString();
    if (code === 1006 && text === TOO_BIG_CLOSE_REASON) {
      this.exchange.errorClass = 'message_too_big';
      this.#upstream.close(MESSAGE_TOO_BIG, 'the message of the agent is too big');
    } else if (UNSENDABLE_CLOSE_CODES.has(code)) this.#upstream.close(NORMAL);
    else this.#upstream.close(code, text);
    this.#end();
  }

  /** Closes both sides. */
  close(code: number = GOING_AWAY, reason = ''): void {
    if (this.#hasEnded) return;
    this.#upstream.close(code, reason);
    this.#closeAgent(code, reason);
    this.#end();
  }

  /** The agent disconnected before its side was open. */
  abort(): void {
    if (this.#hasEnded) return;
    this.#upstream.terminate();
    this.#end();
  }

  #onUpstreamRead(bytes: number): void {
    // Negative when the first part of a ping arrived in the read before.
    const ofMessage = bytes - this.#controlBytes;
    this.#controlBytes = 0;
    if (this.#messageEnded) this.#messageEnded = false;
    else if (ofMessage > 0) this.#unfinishedBytes += ofMessage + READ_OVERHEAD_BYTES;
    else this.#unfinishedBytes = Math.max(0, this.#unfinishedBytes + ofMessage);
    if (this.#updateAllocation()) return;
    if (this.#hasEnded) this.#upstream.terminate();
    else this.close(TRY_AGAIN_LATER, 'no memory for the message of the provider');
  }

  #onPing(data: Buffer): void {
    this.#onControl(data);
    if (this.#upstream.readyState !== this.#upstream.OPEN) return;
    this.#unsent++; // Counted at the end of the read.
    this.#upstream.pong(data, true, this.#onSent);
  }

  /** Counts a control frame, which is no part of a message and is not kept. */
  #onControl(data: Buffer): void {
    this.#controlBytes += CONTROL_HEAD_BYTES + data.length;
  }

  #sendToAgent(message: Buffer, isBinary: boolean): void {
    this.#unfinishedBytes = 0;
    this.#messageEnded = true;
    const outbox = this.#outbox;
    if (this.#hasEnded || outbox === null) return;
    this.exchange.metering.bytesOut += message.length;
    const { forms } = this.#deps;
    maskBuffer(message, forms);
    outbox.send(message, isBinary);
    if (!outbox.isEmpty) this.#upstream.pause();
    if (outbox.hasDropped || !this.#updateAllocation()) this.close(TRY_AGAIN_LATER, TOO_SLOW_MESSAGE);
  }

  /** Another organization needs memory, and this one holds the most. */
  #onMemoryReclaimed(): void {
    this.#upstream.terminate(); // A close would wait for pending reads and writes.
    if (!this.#hasEnded) this.close(TRY_AGAIN_LATER, 'no memory for so many bytes');
  }

  readonly #onSent = (): void => {
    this.#unsent--;
    this.#updateAllocation();
  };

  /** False: the organization may not hold so many bytes. */
  #updateAllocation(): boolean {
    const toAgent = this.#outbox?.heldBytes ?? 0;
    const toUpstream = this.#upstream.bufferedAmount + this.#unsent * UNSENT_OVERHEAD_BYTES;
    return this.#allocation.resize(this.#unfinishedBytes + toUpstream + toAgent);
  }

  #onUpstreamError(error: Error): void {
    // The close event follows every other error and reports it.
    if (this.#hasEnded || !TOO_BIG_ERROR_CODES.has((error as NodeJS.ErrnoException).code)) return;
    this.exchange.errorClass = 'message_too_big';
    this.close(MESSAGE_TOO_BIG, 'the message of the provider is too big');
  }

  #onUpstreamClose(code: number, reason: Buffer): void {
    this.#isUpstreamDisconnected = true;
    this.#unfinishedBytes = 0;
    if (this.#hasEnded) {
      this.#releaseWhenDisconnected();
      return;
    }
    if (code === 1006) this.exchange.errorClass = 'upstream_cut';
    else this.exchange.upstreamCall.responseComplete = true;
    maskBuffer(reason, this.#deps.forms);
    if (UNSENDABLE_CLOSE_CODES.has(code)) this.#closeAgentWhenDrained(code === 1006 ? 1011 : NORMAL, '');
    else this.#closeAgentWhenDrained(code, reason.toString());
  }

  /** Closes the agent's side once it has the upstream's last messages. */
  #closeAgentWhenDrained(code: number, reason: string): void {
    if (this.#outbox === null || this.#outbox.isEmpty) this.#finishClosing(code, reason);
    else this.#closing = { code, reason };
  }

  #finishClosing(code: number, reason: string): void {
    this.#closeAgent(code, reason);
    this.#end();
  }

  #closeAgent(code: number, reason: string): void {
    const agent = this.#agent;
    this.#detachAgent();
    agent?.end(code, reason);
  }

  /** The agent's socket must not be touched any more; bytes that it has not taken are dropped. */
  #detachAgent(): void {
    this.#agent = null;
    this.#hadUnreadBytes ||= this.#outbox?.isFull ?? false;
    this.#outbox = null;
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.exchange.errorClass === '') this.exchange.upstreamCall.responseComplete = true;
    // Half-closed for at most the library's own timeout, then closed.
    this.#upstream.resume();
    this.#deps.onEnd(this);
    this.#updateAllocation();
    if (!this.#isAgentDisconnected) this.#waitForAgentDisconnect();
    this.#releaseWhenDisconnected();
  }

  /** The server does not report the end of an agent's connection. */
  #waitForAgentDisconnect(): void {
    const { lingerMs: ms, unreadLingerMs: unreadMs } = this.#deps.lingerTimeouts;
    const gone = (): void => {
      this.#isAgentDisconnected = true;
      this.#releaseWhenDisconnected();
    };
    setTimeout(gone, this.#hadUnreadBytes ? unreadMs : ms).unref();
  }

  #releaseWhenDisconnected(): void {
    if (this.#isReleased || !this.#hasEnded || !this.#isUpstreamDisconnected || !this.#isAgentDisconnected) return;
    this.#isReleased = true;
    this.#allocation.release();
    this.#deps.onDisconnected(this);
  }
}
