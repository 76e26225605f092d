/**
 * The stages of a WebSocket upgrade that differ from an ordinary call (docs/contract.md#websockets): only where frames
 * need no metering, the upstream's handshake first, then the agent's.
 */

import type { IncomingMessage } from 'node:http';
import { ignore } from '@acg/base/ignore';
import type { RoutedExchange } from '../call/exchange.js';
import type { Failures } from '../call/failures.js';
import type { ParkedResponse } from '../call/parked-response.js';
import { DONE, NEXT, type RoutedStage, WAIT } from '../call/pipeline.js';
import { REJECTIONS, type Rejection } from '../call/rejections.js';
import { maskFormsOf } from '../call/respond.js';
import type { Settle } from '../call/settle.js';
import { injectCredential } from '../upstream/inject.js';
import { LOOP_HEADER, loopEntry } from '../upstream/loop.js';
import { maskValue, withoutOpenEnd } from '../upstream/mask.js';
import type { UpstreamPools } from '../upstream/pools.js';
import { forwardedHeaders } from '../upstream/request-headers.js';
import { upstreamPath } from '../upstream/target.js';
import { dialUpstreamSocket } from '../upstream/upstream-socket.js';
import type { BytePool } from './byte-pool.js';
import { type Lingering, type SessionUserData, WebSocketSession } from './session.js';

export interface UpgradeDeps {
  readonly parked: Pick<ParkedResponse, 'cork'>;
  readonly pools: Pick<UpstreamPools, 'dial'>;
  readonly handshakeTimeoutMs: number;
  readonly settle: Settle;
  readonly failures: Pick<Failures, 'beforeHead' | 'answer'>;
  /** The process is about to stop: nothing opens any more. */
  readonly draining: () => boolean;
  /** The upstream has agreed: this much is known of its health now, and not only when the session ends. */
  readonly onAgreed: (x: RoutedExchange) => void;
  readonly onSession: (session: WebSocketSession) => void;
  readonly onSessionEnd: (session: WebSocketSession) => void;
  /** Both of its connections have ended. */
  readonly onSessionGone: (session: WebSocketSession) => void;
  /** WEBSOCKET_MESSAGE_BYTES_MAX. */
  readonly messageBytesMax: number;
  readonly pool: Pick<BytePool, 'open'>;
  readonly lingering: Lingering;
}

const REFUSAL_BODY_BYTES_MAX = 64 * 1024;

/** Model providers' frames are not metered, so they would bypass the budget: 501. */
export const checkUpgrade: RoutedStage = (x) => {
  const { upstream } = x.routed;
  if (upstream.websocket && upstream.injection.kind !== 'sigv4') return NEXT;
  x.reject(REJECTIONS.websocketUnmetered);
  return DONE;
};

export function createUpgrade(deps: UpgradeDeps): RoutedStage {
  return (x) => {
    if (x.revoked) {
      x.reject(REJECTIONS.accessRevoked); // while the store was asked
      return DONE;
    }
    const { context, target, upstream, position } = x.routed;
    const headers = forwardedHeaders(x.request.headers, position, upstream.injection);
    if (upstream.tenantAddress) headers.push(LOOP_HEADER, loopEntry(upstream.accountId));
    const query = injectCredential(headers, target.query, upstream.injection, position);
    const path = upstreamPath(upstream.basePath, target.rest);
    x.forwarded = true;
    x.websocket = true;
    x.dispatchedTick = performance.now();
    const socket = dialUpstreamSocket(
      {
        origin: upstream.origin,
        path: query === null ? path : `${path}?${query}`,
        headers: withoutHandshake(headers),
        protocols: protocolsOf(x.handshake!.protocols),
        open: (done) => deps.pools.dial(upstream.origin, upstream.tenantAddress ? context.orgId : null, done),
        handshakeTimeoutMs: deps.handshakeTimeoutMs,
        messageBytesMax: deps.messageBytesMax,
      },
      {
        onOpen: (opened, reads) => {
          const session = new WebSocketSession(x, opened, reads, {
            forms: maskFormsOf(upstream),
            messageBytesMax: deps.messageBytesMax,
            pool: deps.pool,
            lingering: deps.lingering,
            onEnd: (ended) => {
              deps.onSessionEnd(ended);
              deps.settle(x, ignore);
            },
            onGone: deps.onSessionGone,
          });
          x.upstreamStatus = 101;
          x.responseStatus = 101;
          x.respondedTick = performance.now();
          if (!x.settled) deps.onAgreed(x);
          if (x.finished) session.abandon();
          else if (deps.draining()) refuseLate(x, session);
          else open(x, session, deps);
        },
        onRefused: (response) => void passRefusalOn(x, response, deps),
        onError: (error) => {
          if (!x.finished) deps.failures.beforeHead(x, error);
        },
      },
    );
    x.upstreamWork = { abort: () => socket.terminate() };
    return WAIT;
  };
}

function open(x: RoutedExchange, session: WebSocketSession, deps: UpgradeDeps): void {
  const { key, context } = x.handshake!;
  deps.onSession(session);
  x.upgrade(deps.parked, (res) => {
    const userData: SessionUserData = { session };
    res.upgrade(userData, key, session.protocol, '', context);
  });
}

/** The upstream has agreed, but the process is about to stop. */
function refuseLate(x: RoutedExchange, session: WebSocketSession): void {
  x.errorClass = 'shutdown';
  x.responseStatus = REJECTIONS.stopping.status;
  session.abandon();
  x.answerFailure(REJECTIONS.stopping);
}

/** The upstream's own answer to the handshake, bounded and masked. */
async function passRefusalOn(x: RoutedExchange, response: IncomingMessage, deps: UpgradeDeps): Promise<void> {
  let body = '';
  let whole = false;
  try {
    for await (const chunk of response) {
      body += (chunk as Buffer).toString('latin1');
      if (body.length > REFUSAL_BODY_BYTES_MAX) break;
    }
    whole = response.complete;
  } catch {
    // What has arrived is enough to say why.
  }
  response.destroy();
  if (x.finished) return;
  const status = response.statusCode ?? 502;
  x.upstreamStatus = status;
  x.responseComplete = true;
  x.bytesOut = body.length;
  const forms = maskFormsOf(x.routed.upstream);
  const masked = maskValue(body, forms);
  // Where it was cut a piece of the credential may stand, which no mask would know.
  deps.failures.answer(x, refusalOf(status, whole ? masked : withoutOpenEnd(masked, forms)));
}

function refusalOf(status: number, body: string): Rejection {
  const passes = status >= 300 && status <= 599;
  const { statusLine } = passes ? { statusLine: `${status} Upgrade refused` } : REJECTIONS.upstreamUnreachable;
  const message = 'The provider refused the WebSocket connection.';
  const text = JSON.stringify({ error: message, message, providerAnswer: body });
  return { reason: 'upgrade_refused', status, statusLine, message, body: text, headers: [], close: true };
}

const HANDSHAKE: ReadonlySet<string> = new Set([
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'accept-encoding',
]);

function withoutHandshake(headers: readonly string[]): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!HANDSHAKE.has(headers[i]!)) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Offered subprotocols, once each; what is no token is left out. */
function protocolsOf(value: string): string[] {
  const names = value.split(',').map((part) => part.trim());
  return [...new Set(names.filter((name) => TOKEN.test(name)))];
}
