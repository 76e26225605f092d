/**
 * One WebSocket between an agent and an upstream: frames go through as messages, both ways.
 *
 *   upstream ─▶ mask the credential ─▶ agent       an agent that reads slowly pauses the upstream
 *   agent ─▶ supabase: access tokens become the key ─▶ upstream   (see access-token.ts)
 *
 * The server cannot stop reading an agent's socket, so what waits for a slow upstream is bounded: past the bound both
 * sides are closed. All bytes that are held here are counted in a pool that the organizations share (byte-pool.ts); a
 * session that may not hold more ends. Booked once, at the end, with the bytes of both directions. It is gone when both
 * connections are: only then is what they held free again.
 */
import type { RoutedExchange } from '../call/exchange.js';
import { type MaskForms, maskBytes } from '../upstream/mask.js';
import type { UpstreamReads, UpstreamSocket } from '../upstream/upstream-socket.js';
import { withRealAccessToken } from './access-token.js';
import { AgentOutbox, type AgentSocket } from './agent-outbox.js';
import type { BytePool, Holding } from './byte-pool.js';

/** Messages of the largest size that may wait for an upstream. */
const WAITING_MESSAGES_MAX = 4;
/** What the library keeps beside the bytes of one read; measured with one byte each. */
const READ_OVERHEAD_BYTES = 512;
/** Of a ping or pong of the upstream, before its data. */
const CONTROL_HEAD_BYTES = 2;
/** What a message that waits for the upstream takes beside its bytes; measured with one byte each. */
export const UNSENT_OVERHEAD_BYTES = 256;
/** Close codes of RFC 6455 that mean "no code was sent" and must not be sent themselves. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);
const NORMAL = 1000;
const GOING_AWAY = 1001;
const MESSAGE_TOO_BIG = 1009;
const TRY_AGAIN_LATER = 1013;
const TOO_SLOW = 'the agent is too slow';
/** The server's own words: it has broken the connection of an agent whose message is too big, and sent no code. */
const TOO_BIG_BREAK = 'Received too big message';
/** The library's: of a message's length, and of the frames that it came in. */
const TOO_BIG_ERRORS: ReadonlySet<unknown> = new Set([
  'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH',
  'WS_ERR_TOO_MANY_BUFFERED_PARTS',
]);

/** How long the server keeps the connection of an agent that has not ended it, after the close, in ms. */
export interface Lingering {
  readonly ms: number;
  /** With bytes that the agent has not taken: each that it takes gives it more time. */
  readonly unreadMs: number;
}

interface SessionDeps {
  readonly forms: MaskForms;
  readonly messageBytesMax: number;
  readonly pool: Pick<BytePool, 'open'>;
  readonly lingering: Lingering;
  /** It is over: to be booked. */
  readonly onEnd: (session: WebSocketSession) => void;
  /** Nothing of it is left. */
  readonly onGone: (session: WebSocketSession) => void;
}

export interface SessionUserData {
  readonly session: WebSocketSession;
}

export class WebSocketSession {
  readonly x: RoutedExchange;
  readonly #upstream: UpstreamSocket;
  readonly #deps: SessionDeps;
  readonly #holding: Holding;
  /** What stands in for the gateway token as a supabase client's access token; null = messages pass as they are. */
  readonly #accessToken: string | null;
  readonly #gatewayToken: Buffer;
  #agent: AgentSocket | null = null;
  #outbox: AgentOutbox | null = null;
  /** The server held bytes for the agent when its side ended. */
  #leftUnread = false;
  /** Read of the upstream since its last whole message, but for the rest of the read in which that ended. */
  #unfinishedBytes = 0;
  /** Pings and pongs in the read that is being taken apart. */
  #controlBytes = 0;
  /** Messages and answers to pings that the upstream's socket has not taken. */
  #unsent = 0;
  /** A message has ended in the read that is being taken apart. */
  #messageEnded = false;
  /** The upstream has closed, and the agent is still to get its last messages. */
  #closing: { readonly code: number; readonly reason: string } | null = null;
  #ended = false;
  #upstreamGone = false;
  #agentGone = true;
  #gone = false;

  constructor(x: RoutedExchange, upstream: UpstreamSocket, reads: UpstreamReads, deps: SessionDeps) {
    this.x = x;
    this.#upstream = upstream;
    this.#deps = deps;
    this.#holding = deps.pool.open(x.routed.context.orgId, () => this.#onRoomLost());
    const { position, upstream: account } = x.routed;
    const { injection } = account;
    const bearer = injection.kind === 'header' ? injection.bearerUnlessUserJwt : null;
    this.#accessToken = bearer === null ? null : bearer.slice('Bearer '.length);
    this.#gatewayToken = Buffer.from(position.gatewayToken);
    upstream.pause(); // until the agent's side is open
    upstream.on('message', (data, isBinary) => this.#toAgent(data as Buffer, isBinary));
    upstream.on('ping', (data) => this.#onPing(data));
    upstream.on('pong', (data) => this.#onControl(data));
    upstream.on('close', (code, reason) => this.#onUpstreamClose(code, reason));
    upstream.on('error', (error) => this.#onUpstreamError(error));
    reads.on('data', (chunk) => this.#onRead(chunk.length));
  }

  /** Subprotocol that the upstream chose. */
  get protocol(): string {
    return this.#upstream.protocol;
  }

  opened(agent: AgentSocket): void {
    this.#agent = agent;
    this.#agentGone = false;
    this.#outbox = new AgentOutbox(agent);
    this.#upstream.resume();
  }

  /** A message of the agent; its buffer is the server's and must be copied. */
  fromAgent(message: ArrayBuffer, isBinary: boolean): void {
    if (this.#ended || this.#closing !== null) return;
    this.x.bytesIn += message.byteLength;
    // What is sent after the upstream's close goes nowhere, and the library would count it for ever.
    if (this.#upstream.readyState !== this.#upstream.OPEN) return;
    const bytes = Buffer.from(new Uint8Array(message));
    const repeatsKey = this.#accessToken !== null && !isBinary;
    const outgoing = repeatsKey ? withRealAccessToken(bytes, this.#gatewayToken, this.#accessToken) : bytes;
    this.#unsent++;
    this.#upstream.send(outgoing, { binary: isBinary }, this.#onSent);
    const bytesMax = WAITING_MESSAGES_MAX * this.#deps.messageBytesMax;
    const isTooMuch = this.#upstream.bufferedAmount > bytesMax || !this.#count();
    if (isTooMuch) this.end(TRY_AGAIN_LATER, 'the provider is too slow');
  }

  /** The agent's socket has taken bytes, or was given some by the server itself. */
  agentMoved(): void {
    if (this.#ended) return;
    const outbox = this.#outbox!; // until the end
    outbox.look();
    if (outbox.dropped || !this.#count()) this.end(TRY_AGAIN_LATER, TOO_SLOW);
    else if (!outbox.empty) this.#upstream.pause();
    else if (this.#closing === null) this.#upstream.resume();
    else this.#finishClosing(this.#closing.code, this.#closing.reason);
  }

  agentClosed(code: number, reason: ArrayBuffer): void {
    this.#letGoOfAgent();
    if (this.#ended) return;
    const text = Buffer.from(reason).toString();
    if (code === 1006 && text === TOO_BIG_BREAK) {
      this.x.errorClass = 'message_too_big';
      this.#upstream.close(MESSAGE_TOO_BIG, 'the message of the agent is too big');
    } else if (UNSENDABLE.has(code)) this.#upstream.close(NORMAL);
    else this.#upstream.close(code, text);
    this.#finish();
  }

  /** Ends both sides. */
  end(code: number = GOING_AWAY, reason = ''): void {
    if (this.#ended) return;
    this.#upstream.close(code, reason);
    this.#closeAgent(code, reason);
    this.#finish();
  }

  /** The agent went away before its side was open. */
  abandon(): void {
    if (this.#ended) return;
    this.#upstream.terminate();
    this.#finish();
  }

  #onRead(bytes: number): void {
    // Negative where the first part of a ping came in the read before.
    const ofMessage = bytes - this.#controlBytes;
    this.#controlBytes = 0;
    if (this.#messageEnded) this.#messageEnded = false;
    else if (ofMessage > 0) this.#unfinishedBytes += ofMessage + READ_OVERHEAD_BYTES;
    else this.#unfinishedBytes = Math.max(0, this.#unfinishedBytes + ofMessage);
    if (this.#count()) return;
    if (this.#ended) this.#upstream.terminate();
    else this.end(TRY_AGAIN_LATER, 'no room for the message of the provider');
  }

  #onPing(data: Buffer): void {
    this.#onControl(data);
    if (this.#upstream.readyState !== this.#upstream.OPEN) return;
    this.#unsent++; // counted at the end of the read
    this.#upstream.pong(data, true, this.#onSent);
  }

  /** It is no part of a message, and nothing of it stays here. */
  #onControl(data: Buffer): void {
    this.#controlBytes += CONTROL_HEAD_BYTES + data.length;
  }

  #toAgent(message: Buffer, isBinary: boolean): void {
    this.#unfinishedBytes = 0;
    this.#messageEnded = true;
    const outbox = this.#outbox;
    if (this.#ended || outbox === null) return;
    this.x.bytesOut += message.length;
    const { forms } = this.#deps;
    maskBytes(message, forms);
    outbox.send(message, isBinary);
    if (!outbox.empty) this.#upstream.pause();
    if (outbox.dropped || !this.#count()) this.end(TRY_AGAIN_LATER, TOO_SLOW);
  }

  /** Another organization needs the room that this one takes more of. */
  #onRoomLost(): void {
    this.#upstream.terminate(); // a close would wait for what is read or written
    if (!this.#ended) this.end(TRY_AGAIN_LATER, 'no room for so many bytes');
  }

  readonly #onSent = (): void => {
    this.#unsent--;
    this.#count();
  };

  /** False: the organization may not hold so many bytes. */
  #count(): boolean {
    const toAgent = this.#outbox?.bytes ?? 0;
    const toUpstream = this.#upstream.bufferedAmount + this.#unsent * UNSENT_OVERHEAD_BYTES;
    return this.#holding.resize(this.#unfinishedBytes + toUpstream + toAgent);
  }

  #onUpstreamError(error: Error): void {
    // Any other is followed by close, which says all that is to be said.
    if (this.#ended || !TOO_BIG_ERRORS.has((error as NodeJS.ErrnoException).code)) return;
    this.x.errorClass = 'message_too_big';
    this.end(MESSAGE_TOO_BIG, 'the message of the provider is too big');
  }

  #onUpstreamClose(code: number, reason: Buffer): void {
    this.#upstreamGone = true;
    this.#unfinishedBytes = 0;
    if (this.#ended) {
      this.#release();
      return;
    }
    if (code === 1006) this.x.errorClass = 'upstream_cut';
    else this.x.responseComplete = true;
    maskBytes(reason, this.#deps.forms);
    if (UNSENDABLE.has(code)) this.#endAgent(code === 1006 ? 1011 : NORMAL, '');
    else this.#endAgent(code, reason.toString());
  }

  /** Once the agent has the upstream's last messages. */
  #endAgent(code: number, reason: string): void {
    if (this.#outbox === null || this.#outbox.empty) this.#finishClosing(code, reason);
    else this.#closing = { code, reason };
  }

  #finishClosing(code: number, reason: string): void {
    this.#closeAgent(code, reason);
    this.#finish();
  }

  #closeAgent(code: number, reason: string): void {
    const agent = this.#agent;
    this.#letGoOfAgent();
    agent?.end(code, reason);
  }

  /** Its socket must not be touched any more; what it has not taken is dropped. */
  #letGoOfAgent(): void {
    this.#agent = null;
    this.#leftUnread ||= this.#outbox?.full ?? false;
    this.#outbox = null;
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.x.errorClass === '') this.x.responseComplete = true;
    // Half-closed for at most as long as the library's own timeout; then gone.
    this.#upstream.resume();
    this.#deps.onEnd(this);
    this.#count();
    if (!this.#agentGone) this.#awaitAgent();
    this.#release();
  }

  /** The server does not say when an agent's connection has ended. */
  #awaitAgent(): void {
    const { ms, unreadMs } = this.#deps.lingering;
    const gone = (): void => {
      this.#agentGone = true;
      this.#release();
    };
    setTimeout(gone, this.#leftUnread ? unreadMs : ms).unref();
  }

  #release(): void {
    if (this.#gone || !this.#ended || !this.#upstreamGone || !this.#agentGone) return;
    this.#gone = true;
    this.#holding.close();
    this.#deps.onGone(this);
  }
}
