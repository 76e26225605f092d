/**
 * The stages of a WebSocket upgrade that differ from an ordinary call (docs/contract.md#websockets). Only accounts
 * whose frames need no metering are allowed. The upstream's handshake comes first, then the agent's.
 */

import type { IncomingMessage } from 'node:http';
import { noop } from '@acg/base/noop';
import { Phase, type RoutedExchange } from '../call/exchange.js';
import type { FailureHandler } from '../call/failure-handler.js';
import { DONE, NEXT, type RoutedStage, WAIT } from '../call/pipeline.js';
import { type Resend, replaceClosedConnection } from '../call/resend.js';
import type { Settle } from '../call/settle.js';
import type { UpgradeCorkContext } from '../listener/upgrade-cork-context.js';
import { REJECTIONS, type Rejection } from '../rejection/rejections.js';
import { getMaskForms } from '../response/plan-response.js';
import { connectUpstreamWebSocket } from '../upstream/connections/open-upstream-websocket.js';
import { injectCredential } from '../upstream/credentials/inject-credential.js';
import { filterRequestHeaders } from '../upstream/filter-request-headers.js';
import { createLoopEntry, LOOP_HEADER } from '../upstream/loop-detection.js';
import { cutPartialCredential, maskHeaderValue } from '../upstream/masking/credential-mask.js';
import { joinUpstreamPath } from '../upstream/parse-proxy-request-target.js';
import type { MemoryPool } from './memory-pool.js';
import { type LingerTimeouts, type SessionUserData, WebSocketSession } from './websocket-session.js';

export interface UpgradeDeps {
  readonly corkContext: Pick<UpgradeCorkContext, 'cork'>;
  readonly handshakeTimeoutMs: number;
  readonly settle: Settle;
  readonly failures: Pick<
    FailureHandler,
    | 'settleAndRespond'
    | 'settleAndRespondToConnectFailure'
    | 'settleAndRespondToFailedRetry'
    | 'settleAndRespondToFailure'
  >;
  /** The process is about to stop: no session opens any more. */
  readonly isDraining: () => boolean;
  /** The upstream accepted the handshake. Reports its health now, not only when the session ends. */
  readonly onUpstreamAccepted: (exchange: RoutedExchange) => void;
  readonly onSession: (session: WebSocketSession) => void;
  readonly onSessionEnd: (session: WebSocketSession) => void;
  /** Both connections of the session have closed. */
  readonly onSessionDisconnected: (session: WebSocketSession) => void;
  /** WEBSOCKET_MESSAGE_BYTES_MAX. */
  readonly messageBytesMax: number;
  readonly memoryPool: Pick<MemoryPool, 'allocate'>;
  readonly lingerTimeouts: LingerTimeouts;
}

const REJECTION_BODY_BYTES_MAX = 64 * 1024;

/** Frames of model providers are not metered, so they would bypass the budget: 501. */
export const checkWebSocketAllowed: RoutedStage = (exchange) => {
  const { upstream } = exchange.routed;
  if (upstream.allowsWebSocket && upstream.injection.kind !== 'sigv4') return NEXT;
  exchange.reject(REJECTIONS.websocketUnmetered);
  return DONE;
};

export function createUpgradeStage(deps: UpgradeDeps, resend: Resend): RoutedStage {
  return (exchange) => {
    if (exchange.access.revoked) {
      exchange.reject(REJECTIONS.accessRevoked); // Revoked while the counter store was called.
      return DONE;
    }
    const { upstreamCall } = exchange;
    const connection = upstreamCall.heldConnection!;
    if (!connection.isUsable) return replaceClosedConnection(exchange, deps.failures);
    const { target, upstream, tokenPosition: position } = exchange.routed;
    const headers = filterRequestHeaders(exchange.request.headers, position, upstream.injection);
    if (upstream.isTenantAddress) headers.push(LOOP_HEADER, createLoopEntry(upstream.accountId));
    const query = injectCredential(headers, target.query, upstream.injection, position);
    const path = joinUpstreamPath(upstream.basePath, target.providerPath);
    if (!exchange.wasForwarded) exchange.advanceTo(Phase.FORWARDED);
    upstreamCall.dispatchedAtPerfMs ||= performance.now() - upstreamCall.connectMs;
    upstreamCall.heldConnection = null;
    upstreamCall.repeatable = connection.isKept ? { body: null } : null;
    upstreamCall.onResendRejected = null;
    exchange.admission.unusedSincePerfMs = 0;
    const socket = connectUpstreamWebSocket(
      {
        origin: upstream.origin,
        path: query === null ? path : `${path}?${query}`,
        headers: removeHandshakeHeaders(headers),
        protocols: parseProtocols(exchange.handshake!.protocols),
        connection: connection.takeSocket(),
        handshakeTimeoutMs: deps.handshakeTimeoutMs,
        messageBytesMax: deps.messageBytesMax,
      },
      {
        onOpen: (opened, reads) => {
          const session = new WebSocketSession(exchange, opened, reads, {
            forms: getMaskForms(upstream),
            messageBytesMax: deps.messageBytesMax,
            memoryPool: deps.memoryPool,
            lingerTimeouts: deps.lingerTimeouts,
            onEnd: (ended) => {
              deps.onSessionEnd(ended);
              deps.settle(exchange, noop);
            },
            onDisconnected: deps.onSessionDisconnected,
          });
          if (!exchange.isFinished) exchange.advanceTo(Phase.RESPONDING);
          exchange.upstreamCall.status = 101;
          exchange.response.status = 101;
          exchange.upstreamCall.respondedAtPerfMs = performance.now();
          if (!exchange.settled) deps.onUpstreamAccepted(exchange);
          if (exchange.isFinished) session.abort();
          else if (deps.isDraining()) rejectShuttingDown(exchange, session);
          else open(exchange, session, deps);
        },
        onRejected: (response) => void forwardUpstreamRejection(exchange, response, deps),
        onError: (error) => {
          if (exchange.isFinished) return;
          if (upstreamCall.repeatable !== null && isConnectionLost(error))
            resend(exchange, (rejection) => deps.failures.settleAndRespondToFailedRetry(exchange, rejection));
          else deps.failures.settleAndRespondToFailure(exchange, error);
        },
      },
    );
    upstreamCall.operation = { abort: () => socket.terminate() };
    return WAIT;
  };
}

function open(exchange: RoutedExchange, session: WebSocketSession, deps: UpgradeDeps): void {
  const { key, context } = exchange.handshake!;
  deps.onSession(session);
  exchange.upgradeToWebSocket(deps.corkContext, (res) => {
    const userData: SessionUserData = { session };
    res.upgrade(userData, key, session.protocol, '', context);
  });
}

/** The upstream accepted the handshake, but the process is about to stop. */
function rejectShuttingDown(exchange: RoutedExchange, session: WebSocketSession): void {
  exchange.errorClass = 'shutdown';
  exchange.response.status = REJECTIONS.shuttingDown.status;
  session.abort();
  exchange.sendRejectionNow(REJECTIONS.shuttingDown);
}

/** Forwards the upstream's response to the handshake, bounded and masked. */
async function forwardUpstreamRejection(
  exchange: RoutedExchange,
  response: IncomingMessage,
  deps: UpgradeDeps,
): Promise<void> {
  let body = '';
  let whole = false;
  try {
    for await (const chunk of response) {
      body += (chunk as Buffer).toString('latin1');
      if (body.length > REJECTION_BODY_BYTES_MAX) break;
    }
    whole = response.complete;
  } catch {
    // The bytes so far are enough to report the reason.
  }
  response.destroy();
  if (exchange.isFinished) return;
  const status = response.statusCode ?? 502;
  exchange.advanceTo(Phase.RESPONDING);
  exchange.upstreamCall.status = status;
  exchange.upstreamCall.responseComplete = true;
  exchange.metering.bytesOut = body.length;
  const forms = getMaskForms(exchange.routed.upstream);
  const masked = maskHeaderValue(body, forms);
  // Where the body was cut, it may end in a part of the credential, which the mask does not find.
  deps.failures.settleAndRespond(
    exchange,
    createUpgradeRejection(status, whole ? masked : cutPartialCredential(masked, forms)),
  );
}

function createUpgradeRejection(status: number, body: string): Rejection {
  const passes = status >= 300 && status <= 599;
  const { statusLine } = passes ? { statusLine: `${status} Upgrade rejected` } : REJECTIONS.upstreamUnreachable;
  const message = 'The provider rejected the WebSocket connection.';
  const text = JSON.stringify({ error: message, message, providerAnswer: body });
  return { reason: 'upgrade_refused', status, statusLine, message, body: text, headers: [], closesConnection: true };
}

/** The connection closed without a response. */
const isConnectionLost = (error: Error): boolean =>
  ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');

const HANDSHAKE_HEADERS: ReadonlySet<string> = new Set([
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'accept-encoding',
]);

function removeHandshakeHeaders(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!HANDSHAKE_HEADERS.has(headers[i]!)) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

const HTTP_TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Offered subprotocols, once each; values that are not HTTP tokens are left out. */
function parseProtocols(value: string): string[] {
  const names = value.split(',').map((part) => part.trim());
  return [...new Set(names.filter((name) => HTTP_TOKEN.test(name)))];
}
