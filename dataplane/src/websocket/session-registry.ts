/** All open WebSockets of this process, and the handlers of the server's events. */
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js';
import type { RoutedExchange } from '../call/exchange.js';
import type { RevocableSessions } from '../call/session-revoker.js';
import { type AgentSocket, FRAGMENT_BYTES } from './agent-outbox.js';
import type { SessionUserData, WebSocketSession } from './websocket-session.js';

/** The server drops bytes past this limit. It gets one piece at a time, so the rest can only be its own pongs. */
const BACKPRESSURE_BYTES_MAX = 4 * FRAGMENT_BYTES;
/** The server pings silent agents before this time, in seconds. */
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
   * `onUpgrade` runs the stages; requests without an upgrade use the ordinary route. `onClosed`: an agent's WebSocket
   * connection has closed.
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
