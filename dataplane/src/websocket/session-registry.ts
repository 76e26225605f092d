/** All WebSockets that are open in this process, and what the server does with their events. */
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js';
import type { RoutedExchange } from '../call/exchange.js';
import type { RevocableSessions } from '../call/session-revoker.js';
import { type AgentSocket, FRAGMENT_BYTES } from './agent-outbox.js';
import type { SessionUserData, WebSocketSession } from './websocket-session.js';

/** The server drops what comes past this. It is given a piece at a time, so the rest can only be its answers to pings. */
const BACKPRESSURE_BYTES_MAX = 4 * FRAGMENT_BYTES;
/** Silent agents are pinged by the server before this. */
const IDLE_TIMEOUT_SEC = 120;
const POLICY_VIOLATION = 1008;

export class WebSocketSessionRegistry implements RevocableSessions {
  readonly #sessions = new Map<RoutedExchange, WebSocketSession>();

  get size(): number {
    return this.#sessions.size;
  }

  add(session: WebSocketSession): void {
    this.#sessions.set(session.exchange, session);
  }

  remove(session: WebSocketSession): void {
    this.#sessions.delete(session.exchange);
  }

  forEachOpen(visit: (exchange: RoutedExchange) => void): void {
    for (const exchange of this.#sessions.keys()) visit(exchange);
  }

  revoke(exchange: RoutedExchange, why: string): void {
    const session = this.#sessions.get(exchange);
    if (session === undefined) return;
    if (exchange.errorClass === '') exchange.errorClass = 'revoked';
    session.close(POLICY_VIOLATION, why);
  }

  closeAll(): void {
    for (const session of this.#sessions.values()) {
      if (session.exchange.errorClass === '') session.exchange.errorClass = 'shutdown';
      session.close();
    }
  }

  /**
   * `onUpgrade` runs the stages; requests that are no upgrade go on to the ordinary route. `onClosed`: an agent's
   * connection that was a WebSocket has ended.
   */
  createBehavior(
    messageBytesMax: number,
    onUpgrade: (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => void,
    onClosed: () => void,
  ): WebSocketBehavior<SessionUserData> {
    return {
      maxPayloadLength: messageBytesMax,
      maxBackpressure: BACKPRESSURE_BYTES_MAX,
      idleTimeout: IDLE_TIMEOUT_SEC,
      sendPingsAutomatically: true,
      upgrade: onUpgrade,
      open: (agent) => agent.getUserData().session.onAgentOpen(agent as unknown as AgentSocket),
      message: (agent, message, isBinary) => agent.getUserData().session.onAgentMessage(message, isBinary),
      drain: (agent) => agent.getUserData().session.onAgentWritable(),
      ping: (agent) => agent.getUserData().session.onAgentWritable(),
      close: (agent, code, reason) => {
        onClosed();
        agent.getUserData().session.onAgentClose(code, reason);
      },
    };
  }
}
