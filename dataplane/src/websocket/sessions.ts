/** All WebSockets that are open in this process, and what the server does with their events. */
import type { HttpRequest, HttpResponse, us_socket_context_t, WebSocketBehavior } from 'uWebSockets.js';
import type { AgentContext } from '../context/agent-context.js';
import { MESSAGE_BYTES_MAX, type SessionUserData, type WebSocketSession } from './session.js';

/** The server drops messages past this; a session ends before, because it stops reading the upstream first. */
const BACKPRESSURE_BYTES_MAX = 4 * MESSAGE_BYTES_MAX;
/** Silent agents are pinged by the server before this. */
const IDLE_TIMEOUT_SEC = 120;
const POLICY_VIOLATION = 1008;

export class WebSocketSessions {
  readonly #sessions = new Set<WebSocketSession>();

  get size(): number {
    return this.#sessions.size;
  }

  add(session: WebSocketSession): void {
    this.#sessions.add(session);
  }

  remove(session: WebSocketSession): void {
    this.#sessions.delete(session);
  }

  /** Ends the sessions of agents that were revoked, paused or deleted, or whose key or account was. */
  endRevoked(touches: (context: AgentContext, providerSlug: string) => boolean): void {
    for (const session of this.#sessions) {
      const { context, upstream } = session.x.routed;
      if (touches(context, upstream.providerSlug)) session.end(POLICY_VIOLATION, 'access was revoked');
    }
  }

  /** Ends the sessions whose key has run out. */
  endExpired(nowMs: number): void {
    for (const session of this.#sessions) {
      const endMs = session.x.routed.context.keyExpiresAtMs;
      if (endMs !== null && nowMs >= endMs) session.end(POLICY_VIOLATION, 'the key has expired');
    }
  }

  endAll(): void {
    for (const session of this.#sessions) {
      if (session.x.errorClass === '') session.x.errorClass = 'shutdown';
      session.end();
    }
  }

  /** `onUpgrade` runs the stages; requests that are no upgrade go on to the ordinary route. */
  behavior(
    onUpgrade: (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => void,
  ): WebSocketBehavior<SessionUserData> {
    return {
      maxPayloadLength: MESSAGE_BYTES_MAX,
      maxBackpressure: BACKPRESSURE_BYTES_MAX,
      idleTimeout: IDLE_TIMEOUT_SEC,
      sendPingsAutomatically: true,
      upgrade: onUpgrade,
      open: (agent) => agent.getUserData().session.opened(agent),
      message: (agent, message, isBinary) => agent.getUserData().session.fromAgent(message, isBinary),
      drain: (agent) => agent.getUserData().session.agentDrained(),
      close: (agent, code, reason) => agent.getUserData().session.agentClosed(code, reason),
    };
  }
}
