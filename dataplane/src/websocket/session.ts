/**
 * One WebSocket between an agent and an upstream: frames go through as messages, both ways.
 *
 *   upstream ─▶ mask the credential ─▶ agent       an agent that reads slowly pauses the upstream
 *   agent ─▶ supabase: access tokens become the key ─▶ upstream   (see access-token.ts)
 *
 * The server cannot stop reading an agent's socket, so what waits for a slow upstream is bounded: past the bound both
 * sides are closed. Booked once, at the end, with the bytes of both directions.
 */

import type { WebSocket as AgentSocket } from 'uWebSockets.js';
import { ignore } from '@acg/base/ignore';
import type { RoutedExchange } from '../call/exchange.js';
import { type MaskForms, maskBytes, maskValue } from '../upstream/mask.js';
import type { UpstreamSocket } from '../upstream/upstream-socket.js';
import { withRealAccessToken } from './access-token.js';

export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;
const WAITING_BYTES_MAX = 16 * 1024 * 1024;
/** Close codes of RFC 6455 that mean "no code was sent" and must not be sent themselves. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);
const NORMAL = 1000;
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

export interface SessionUserData {
  readonly session: WebSocketSession;
}

export class WebSocketSession {
  readonly x: RoutedExchange;
  readonly #upstream: UpstreamSocket;
  readonly #forms: MaskForms;
  /** What stands in for the gateway token as a supabase client's access token; null = messages pass as they are. */
  readonly #accessToken: string | null;
  readonly #gatewayToken: Buffer;
  readonly #onEnd: (session: WebSocketSession) => void;
  #agent: AgentSocket<SessionUserData> | null = null;
  #ended = false;

  constructor(
    x: RoutedExchange,
    upstream: UpstreamSocket,
    forms: MaskForms,
    onEnd: (session: WebSocketSession) => void,
  ) {
    this.x = x;
    this.#upstream = upstream;
    this.#forms = forms;
    const { position, upstream: account } = x.routed;
    const { injection } = account;
    const bearer = injection.kind === 'header' ? injection.bearerUnlessUserJwt : null;
    this.#accessToken = bearer === null ? null : bearer.slice('Bearer '.length);
    this.#gatewayToken = Buffer.from(position.gatewayToken);
    this.#onEnd = onEnd;
    upstream.pause(); // until the agent's side is open
    upstream.on('message', (data, isBinary) => this.#toAgent(data as Buffer, isBinary));
    upstream.on('close', (code, reason) => this.#onUpstreamClose(code, reason));
    upstream.on('error', ignore); // always followed by close
  }

  /** Subprotocol that the upstream chose. */
  get protocol(): string {
    return this.#upstream.protocol;
  }

  opened(agent: AgentSocket<SessionUserData>): void {
    this.#agent = agent;
    this.#upstream.resume();
  }

  /** A message of the agent; its buffer is the server's and must be copied. */
  fromAgent(message: ArrayBuffer, isBinary: boolean): void {
    if (this.#ended) return;
    this.x.bytesIn += message.byteLength;
    const bytes = Buffer.from(new Uint8Array(message));
    const repeatsKey = this.#accessToken !== null && !isBinary;
    const outgoing = repeatsKey ? withRealAccessToken(bytes, this.#gatewayToken, this.#accessToken) : bytes;
    this.#upstream.send(outgoing, { binary: isBinary });
    if (this.#upstream.bufferedAmount > WAITING_BYTES_MAX) this.end(TRY_AGAIN_LATER, 'the provider is too slow');
  }

  agentDrained(): void {
    if (!this.#ended) this.#upstream.resume();
  }

  agentClosed(code: number, reason: ArrayBuffer): void {
    this.#agent = null;
    if (this.#ended) return;
    if (UNSENDABLE.has(code)) this.#upstream.close(NORMAL);
    else this.#upstream.close(code, Buffer.from(reason.slice(0)));
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

  #toAgent(message: Buffer, isBinary: boolean): void {
    if (this.#ended || this.#agent === null) return;
    this.x.bytesOut += message.length;
    if (this.#forms.patterns.length > 0) maskBytes(message, this.#forms);
    const sent = this.#agent.send(message, isBinary);
    if (sent === 0) this.#upstream.pause();
    else if (sent === 2) this.end(TRY_AGAIN_LATER, 'the agent is too slow');
  }

  #onUpstreamClose(code: number, reason: Buffer): void {
    if (this.#ended) return;
    if (code === 1006) this.x.errorClass = 'upstream_cut';
    else this.x.responseComplete = true;
    if (UNSENDABLE.has(code)) this.#closeAgent(code === 1006 ? 1011 : NORMAL, '');
    else this.#closeAgent(code, maskValue(reason.toString(), this.x.routed.upstream.injection.secretForms));
    this.#finish();
  }

  #closeAgent(code: number, reason: string): void {
    const agent = this.#agent;
    this.#agent = null;
    agent?.end(code, reason);
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.x.errorClass === '') this.x.responseComplete = true;
    // Half-closed for at most as long as the library's own timeout; then gone.
    this.#upstream.resume();
    this.#onEnd(this);
  }
}
