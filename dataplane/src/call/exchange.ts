/**
 * One request and its response through the data plane: a fixed-shape record that the stages fill from top to bottom.
 * The answer is written by this file and by `relay.ts` only, each behind {@link Exchange.finished}: nothing is written
 * twice, after the end, or after the agent has gone. A WebSocket's handshake is written by whoever asks for
 * {@link Exchange.upgradeToWebSocket}, behind the same check.
 */

import type { OrgInflight } from '../concurrency/org-concurrency-limiter.js';
import type { AgentContext, Upstream } from '../context/agent-context.js';
import type { UpstreamConnection } from '../http1/upstream-request.js';
import type { Admission } from '../limits/counters.js';
import type { CorkContext } from '../listener/cork-context.js';
import type { RequestBody } from '../listener/request-body.js';
import type { UsageMeter } from '../metering/reading/usage-meter.js';
import type { BodyModelReader } from '../policy/body/body-model-reader.js';
import type { Rejection } from '../rejection/rejections.js';
import type { ObjectRequest } from '../s3/object-request.js';
import type { RequestedOutput, RequestScanner } from '../scan/request-scanner.js';
import type { TokenPosition } from '../upstream/credentials/gateway-token-position.js';
import type { ProxyTarget } from '../upstream/proxy-target.js';
import type { AgentResponse, UpgradableResponse, WebSocketHandshake } from './agent-response.js';
import type { DeferredUsageBatcher } from './deferred-usage.js';
import type { ReservedOutput } from './reserved-output.js';

/** What a flood's refusals wait. */
const TARPIT_DELAY_MS = 1_000;

/** Who hears how exchanges go. */
export interface ExchangeObserver {
  /** The gateway itself refused; called before the answer is written, and may make it a late one. */
  onRejected(x: Exchange, rejection: Rejection): void;
  /** Nothing more will be written to the agent; called once, whatever happened. */
  onEnded(x: Exchange): void;
}

/** What `accept` has read off the request. */
interface AcceptedRequest {
  readonly id: string;
  /** Unix ms. */
  readonly startedAtMs: number;
  /** `performance.now()` when the handler was entered. */
  readonly startedAtPerfMs: number;
  readonly method: string;
  readonly rawPath: string;
  /** Without `?`; null when there is none. */
  readonly query: string | null;
  /** Flat `[name, value, …]`, lower-case names. */
  readonly headers: readonly string[];
  /** -1: no Content-Length. */
  readonly contentLength: number;
  readonly host: string;
  /** The connection cannot be trusted to be at a request's beginning afterwards, or the agent asked for its end. */
  readonly closesConnectionAfter: boolean;
}

/** Work at the upstream that ends early when the agent goes away. */
interface UpstreamOperation {
  abort(): void;
}

/** Where a request goes and on whose account: all that `route` found. */
export interface RouteResult {
  readonly context: AgentContext;
  readonly target: ProxyTarget;
  readonly upstream: Upstream;
  /** Where the gateway token stood. */
  readonly tokenPosition: TokenPosition;
}

/** An exchange past `route`: every stage after it, and all that handles its response. */
export type RoutedExchange = Exchange & { readonly routed: RouteResult };

export const isRouted = (x: Exchange): x is RoutedExchange => x.routed !== null;

export class Exchange {
  readonly res: AgentResponse;
  readonly request: AcceptedRequest;
  readonly #observer: ExchangeObserver;

  /** Index of the next stage. */
  nextStageIndex = 0;
  setIndex = -1;
  /** Its organization's calls under way, among them this one. */
  slot: OrgInflight | null = null;
  /** Its place is held until its WebSocket ends. */
  keepsSlot = false;
  body: RequestBody | null = null;

  agentRef = '';
  /** SHA-256 of the gateway token, hex. */
  tokenHash = '';
  /** Found one by one on the way to `route`, which puts them into {@link routed}. */
  target: ProxyTarget | null = null;
  position: TokenPosition | null = null;
  context: AgentContext | null = null;
  routed: RouteResult | null = null;
  /** Reads a body that has to be there whole before the policy is decided. */
  bodyReader: BodyModelReader | null = null;
  /** What that body names; null: nothing was read. */
  bodyModels: readonly string[] | null = null;
  /** Time has passed since key, agent and account were looked at. */
  needsRecheck = false;
  /** Key, agent or account were revoked after they were looked at. */
  revoked = false;
  /** Of an object store: planned before admission, so that what cannot be sent consumes nothing. */
  objectRequest: ObjectRequest | null = null;
  admission: Admission | null = null;
  /** What the call has reserved of a hard budget; settling gives it back. */
  reservedNanos = 0;
  /** The output that is covered by it; null without a hold, and where none can be made. */
  reservedOutput: ReservedOutput | null = null;
  /** 0: the circuit's state is not known; results then count for no epoch. */
  circuitEpoch = 0;
  probeLease = '';

  /** The upstream call was begun: exactly one usage record follows. */
  forwarded = false;
  /** The request was written to an upstream connection. */
  requestSent = false;
  /** Every byte of the request had been handed to the network when the agent left. */
  requestFullySent = false;
  /** What runs upstream: a call or a handshake. */
  upstreamOperation: UpstreamOperation | null = null;
  connection: UpstreamConnection | null = null;
  /** Model that the request's body names. */
  requestModel: string | null = null;
  /** Items of a request body that is a JSON array. */
  requestItems = 0;
  /** What speech or images it asks for. */
  requestedOutput: RequestedOutput | null = null;
  /** Bytes of base64 and the like in it. */
  requestBlobBytes = 0;
  /** The body was edited so that the stream reports usage: what the caller did not ask for is taken out again. */
  addedUsageOption = false;
  /** Reads the request's body while it streams. */
  requestScanner: RequestScanner | null = null;
  meter: UsageMeter | null = null;
  /** Usage of its answer that is booked once for ever; null when there is none. */
  deferredUsage: DeferredUsageBatcher | null = null;
  /** 0 until the upstream has answered. */
  upstreamStatus = 0;
  /** What the agent gets. */
  responseStatus = 0;
  /** Error class of the usage record; `""` = none. */
  errorClass = '';
  /** `performance.now()` of the upstream call; 0 before. */
  dispatchedAtPerfMs = 0;
  /** `performance.now()` of the upstream's response head; 0 before. */
  respondedAtPerfMs = 0;
  /** Of a WebSocket; a request's body counts its own. */
  bytesIn = 0;
  bytesOut = 0;
  streamed = false;
  websocket = false;
  /** The upstream call failed for want of something on this machine. */
  failedLocally = false;
  /** The whole response has arrived. */
  responseComplete = false;
  /** The first bytes of a failing response, where the circuit needs them. */
  failureBodyPrefix = '';

  /** Set when the request asks for a WebSocket. */
  handshake: WebSocketHandshake | null = null;

  rejection: Rejection | null = null;
  /** Its refusal is one of a flood: it is answered late, so that who floods waits with each of its connections. */
  isTarpitted = false;
  /** The agent has gone; `res` must not be touched. */
  aborted = false;
  /** Nothing may be written to `res` any more. */
  finished = false;
  settled = false;

  constructor(res: AgentResponse, request: AcceptedRequest, observer: ExchangeObserver) {
    this.res = res;
    this.request = request;
    this.#observer = observer;
  }

  /** No further stage may run. */
  get hasEnded(): boolean {
    return this.finished || this.rejection !== null;
  }

  /** Refuses the request: nothing is or was sent upstream. Answers in a later turn. */
  reject(rejection: Rejection): void {
    if (this.hasEnded) return;
    this.rejection = rejection;
    this.#observer.onRejected(this, rejection);
    if (this.isTarpitted) {
      this.body?.discard();
      setTimeout(sendRejection, TARPIT_DELAY_MS, this);
      return;
    }
    // Never inside the parser: only from a later turn does the server drop bytes that were pipelined in this segment.
    setImmediate(sendRejection, this);
  }

  /** Answers a call whose upstream failed before its response head; the usage record is written already. */
  respondWithFailure(rejection: Rejection): void {
    if (this.finished) return;
    this.rejection = rejection;
    sendRejection(this);
  }

  /** Answers with a document of the gateway's own. In a later turn, for the same reason as a refusal. */
  respondJson(body: string): void {
    setImmediate(() => {
      if (this.finished) return;
      this.responseStatus = 200;
      this.res.cork(() => {
        this.res.writeStatus('200 OK');
        this.res.writeHeader('content-type', `application/json\r\nx-gateway-request-id: ${this.request.id}`);
        const close = this.mustCloseConnection;
        this.finish();
        this.res.end(body, close);
      });
    });
  }

  /** Turns the connection into a WebSocket; from then on it is the session's. */
  upgradeToWebSocket(corkContext: Pick<CorkContext, 'cork'>, handOver: (res: UpgradableResponse) => void): void {
    if (this.finished) return;
    this.res.cork(() => {
      this.res.writeStatus('101 Switching Protocols');
      this.res.writeHeader('x-gateway-request-id', this.request.id);
    });
    this.finish();
    // Our own `cork` would take the connection for the HTTP one that it was, and might close it (UWS.md).
    corkContext.cork(() => handOver(this.res as UpgradableResponse));
  }

  /** The response has been handed to the server completely. */
  finish(): void {
    if (this.finished) return;
    this.finished = true;
    this.body?.discard();
    this.#observer.onEnded(this);
  }

  /** Breaks the agent's connection, so that a truncated response never looks complete. */
  destroyConnection(): void {
    if (this.finished) return;
    this.finish();
    this.res.close();
  }

  /** Whether the agent's connection must end with this response. */
  get mustCloseConnection(): boolean {
    return this.request.closesConnectionAfter || (this.body !== null && !this.body.isComplete);
  }
}

function sendRejection(x: Exchange): void {
  if (x.finished) return;
  x.res.cork(() => writeRejection(x));
}

function writeRejection(x: Exchange): void {
  const rejection = x.rejection!;
  const { res } = x;
  const close = rejection.closesConnection || x.mustCloseConnection;
  x.responseStatus = rejection.status;
  let block = `application/json\r\nx-gateway-request-id: ${x.request.id}`;
  for (let i = 0; i < rejection.headers.length; i += 2) {
    block += `\r\n${rejection.headers[i]}: ${rejection.headers[i + 1]}`;
  }
  res.writeStatus(rejection.statusLine);
  // One native call for all headers: the server joins name and value as they are. Every part is ours.
  res.writeHeader('content-type', block);
  x.finish();
  if (x.request.method === 'HEAD') res.endWithoutBody(0, close);
  else res.end(rejection.body, close);
}
