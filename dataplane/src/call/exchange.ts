/**
 * One request and its response. The stages fill the record; `phase` says how far the call is. Only this file, `relay.ts`
 * and the caller of {@link Exchange.upgradeToWebSocket} write the response, each after a check of {@link
 * Exchange.isFinished}: nothing is written twice, after the end, or after the agent has disconnected.
 */
import { invariant } from '@acg/base/invariant-failures';
import type { SlotHolder } from '../concurrency/org-slots.js';
import type { AgentContext, Upstream } from '../context/agent-context.js';
import type { UpstreamConnection } from '../http1/upstream-request-interface.js';
import type { AgentLimits } from '../limits/agent-limits.js';
import type { Admission } from '../limits/counters-interface.js';
import type { RequestBody } from '../listener/buffered-or-streamed-request-body.js';
import type { UpgradeCorkContext } from '../listener/upgrade-cork-context.js';
import type { UsageMeter } from '../metering/reading/response-usage-meter-interface.js';
import type { BodyModelReader } from '../policy/body/body-model-reader.js';
import type { MaxCostInput } from '../pricing/max-cost.js';
import { type Rejection, statusLine } from '../rejection/rejections.js';
import type { ObjectRequest } from '../s3/plan-object-request.js';
import type { RequestedOutput, RequestScanner } from '../scan/request-scanner.js';
import type { TokenPosition } from '../upstream/credentials/find-gateway-token.js';
import type { ProxyTarget } from '../upstream/parse-proxy-request-target.js';
import type { AgentResponse, UpgradableResponse, WebSocketHandshake } from './agent-response-interface.js';
import type { DeferredUsageCollector } from './deferred-usage-collector.js';
import type { McpCall } from './mcp-call.js';
import { runInLaterTurn } from './run-in-later-turn.js';
import { writeRejectionHead } from './write-rejection-head.js';

/** Delay of a rejection that is tarpitted, ms. */
const TARPIT_DELAY_MS = 1_000;

/** How far a call has come. Only {@link Exchange.advanceTo} changes it, and only to a later phase. */
export const Phase = {
  /** The request head was read. The stages fill `access`; {@link Exchange.body} may still arrive. */
  ACCEPTED: 0,
  /** The provider account was found: `routed` is set. The stages fill `admission`. */
  ROUTED: 1,
  /** The limits were consumed while the upstream connection stood: `admission.result` is set. */
  ADMITTED: 2,
  /** The request is sent, or no connection was made (no limit is consumed): `upstreamCall` is set, a record follows. */
  FORWARDED: 3,
  /** The upstream's response head was read: `upstreamCall.status`, `response` and `metering.meter` are set. */
  RESPONDING: 4,
  /** The response is complete or was cut off: nothing may be written to `res`. Follows any other phase. */
  FINISHED: 5,
} as const;
export type Phase = (typeof Phase)[keyof typeof Phase];

/** Receives the events of an exchange. */
export interface ExchangeObserver {
  /** The gateway itself rejected the request; called before the response is written. May set `response.isTarpitted`. */
  recordRejectionAndRelease(exchange: Exchange, rejection: Rejection): void;
  /** The request will not be sent: releases its upstream connection and its place among the dials. */
  releaseConnection(exchange: Exchange): void;
  /** Nothing more will be written to the agent; called once for each exchange. */
  onEnded(exchange: Exchange): void;
}

/** The request head as `accept` read it; valid in every phase. */
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
  /** The connection ends after this response: the next request's start is uncertain, or the agent asked for the end. */
  readonly closesConnectionAfter: boolean;
}

/** A call or a WebSocket handshake: aborted when the agent disconnects. */
interface UpstreamOperation {
  abort(): void;
}

/** The result of `route`. */
export interface RouteResult {
  readonly context: AgentContext;
  readonly target: ProxyTarget;
  readonly upstream: Upstream;
  /** The part of the request that held the gateway token. */
  readonly tokenPosition: TokenPosition;
}

/** The output that a reservation covers beside the request. */
export interface ReservedOutput {
  /** Output tokens of all answers together. */
  readonly tokens: number;
  /** The request itself states this maximum. */
  readonly isStatedByRequest: boolean;
  readonly answerCount: number;
  /** The call that the reservation was computed for. */
  readonly call: MaxCostInput;
}

/** The rights of the gateway token. Filled in phase ACCEPTED. */
class AccessState {
  /** Set by `parseRequestTarget`; null for `/v1/self`. */
  target: ProxyTarget | null = null;
  /** Set, like the next three fields, by `authenticate`. */
  tokenPosition: TokenPosition | null = null;
  /** `''`: no `x-gateway-agent`. */
  agentRef = '';
  /** SHA-256 of the gateway token, hex. */
  tokenHash = '';
  /** Replaced by a newer one when access is checked again before admission. */
  context: AgentContext | null = null;
  /** A stage waited since key, agent and account were checked. Set in phase ROUTED. */
  needsRecheck = false;
  /** Key, agent or account were revoked after they were checked. Set from phase ROUTED on. */
  revoked = false;
}

/** What the call took before it is forwarded. Filled in phase ROUTED; valid until the call is settled or rejected. */
class AdmissionState implements SlotHolder {
  /** The organization whose slot the call holds; null: it holds none. */
  slotOrgId: string | null = null;
  /** The slot is released when the WebSocket ends, not when the handshake's response does. */
  keepsSlot = false;
  /** The signature covers the body, so it is signed when it has arrived whole. */
  needsWholeBody = false;
  /** Reads a body that must be complete before the policy is decided, or the budgets that count the call. */
  bodyReader: BodyModelReader | null = null;
  /** A body that `bodyReader` cannot read is rejected. */
  needsModels = true;
  /** Set for calls to an MCP server. */
  mcp: McpCall | null = null;
  runCall: SlotHolder | null = null;
  /** Models that the body names; null: the body was not read. */
  bodyModels: readonly string[] | null = null;
  /** Request to an object store. Planned before admission, so that a request that cannot be sent consumes nothing. */
  objectRequest: ObjectRequest | null = null;
  /** Tags of the call, `key=value` each, sorted. */
  tags: readonly string[] = [];
  /** The limits that apply to the call; null: not computed in the current context. See `getCallLimits`. */
  limits: AgentLimits | null = null;
  /** The latest admission; null: the limits have not admitted the call. */
  result: Admission | null = null;
  /** The limits that have admitted the call; null: none have. */
  admittedBy: AgentLimits | null = null;
  /** `performance.now()` of an admission under which nothing was sent, because its connection had closed; 0: none. */
  unusedSincePerfMs = 0;
  /** Nano-dollars that a hard budget must reserve for the call; null: not computed in the current context. */
  neededNanos: number | null = null;
  /** Nano-dollars that the call has reserved of a hard budget; 0 again once settled or released. Grows while streaming. */
  reservedNanos = 0;
  /** The output that the reservation covers; null without a reservation, or when the output has no bound. */
  reservedOutput: ReservedOutput | null = null;
  /** 0: the circuit's state is not known; results then count for no epoch. */
  circuitEpoch = 0;
  /** Lease of the probe that this call is; `''`: none. */
  probeLease = '';
}

/** The call to the upstream over `connection`. `operation` to `dispatchedAtPerfMs` are set by phase FORWARDED. */
class UpstreamCallState {
  operation: UpstreamOperation | null = null;
  connection: UpstreamConnection | null = null;
  /** The standing connection on which nothing was sent yet, from `connect` until the request is sent or rejected. */
  heldConnection: UpstreamConnection | null = null;
  /** A connection is being made. It stays in its pool when the call ends meanwhile. */
  isDialing = false;
  /** Milliseconds that the call waited for its connections to stand. */
  connectMs = 0;
  /** The body of a request that may be sent again; null, also from the response head on: it may not. */
  repeatable: { readonly body: Buffer | null } | null = null;
  /** While the request is to be sent again: decides the response where it may not be. */
  onResendRejected: ((rejection: Rejection) => void) | null = null;
  /** The provider has answered 401, and another minted credential was requested. */
  hasReplacedCredential = false;
  /** The request was written to an upstream connection. Set in phase FORWARDED. */
  requestSent = false;
  /** The network had taken every byte of the request when the agent disconnected. */
  requestFullySent = false;
  /** `performance.now()` of the first send, less the time that its connection took; 0 before phase FORWARDED. */
  dispatchedAtPerfMs = 0;
  /** `performance.now()` of the upstream's response head; 0 before. */
  respondedAtPerfMs = 0;
  /** 0 until the upstream has responded. */
  status = 0;
  /** The upstream call failed because this machine lacked a resource. */
  failedLocally = false;
  /** The whole response has arrived. */
  responseComplete = false;
  /** The first bytes of a failing response, where the circuit needs them. */
  failureBodyPrefix = '';
}

/** The response to the agent. */
class ResponseState {
  /** HTTP status that the agent gets; 0 until it is known. */
  status = 0;
  /** The response arrives event by event. Valid from phase RESPONDING on. */
  streamed = false;
  /** The rejection that the agent gets; no further stage runs once it is set. */
  rejection: Rejection | null = null;
  /** The client exceeds its rejection rate: its rejection is delayed, which occupies its connection meanwhile. */
  isTarpitted = false;
}

/** What the usage record is computed from. Request fields are valid from phase FORWARDED on, once the body was read. */
class MeteringState {
  /** Model that the request's body names. */
  requestModel: string | null = null;
  /** Items of a request body that is a JSON array. */
  requestItemCount = 0;
  /** The speech or images that the request asks for. */
  requestedOutput: RequestedOutput | null = null;
  /** Bytes of base64 and similar data in the request's body. */
  requestBlobBytes = 0;
  /** The body was edited so that the stream reports usage; the usage event is removed from the response. */
  addedUsageOption = false;
  /** Reads the request's body while it streams. */
  requestScanner: RequestScanner | null = null;
  /** Reads usage from the response. Set at the start of phase RESPONDING. */
  meter: UsageMeter | null = null;
  /** Usage in the response that is booked once per line; null when there is none. */
  deferredUsage: DeferredUsageCollector | null = null;
  /** Bytes that the agent sent over a WebSocket; a request's body counts its own. */
  bytesIn = 0;
  /** Bytes of the upstream's response body or WebSocket messages. */
  bytesOut = 0;
  /** The usage record was handed to the spool; it is written at most once. */
  isRecorded = false;
}

/** An exchange from phase ROUTED on: every stage after `route`, and all code that handles its response. */
export type RoutedExchange = Exchange & { readonly routed: RouteResult };

export const isRouted = (exchange: Exchange): exchange is RoutedExchange => exchange.routed !== null;

export class Exchange {
  readonly res: AgentResponse;
  readonly request: AcceptedRequest;
  readonly #observer: ExchangeObserver;
  #phase: Phase = Phase.ACCEPTED;
  /** The last phase before FINISHED. */
  #progress: Phase = Phase.ACCEPTED;

  /** Index of the next stage. */
  nextStageIndex = 0;
  /** Position in the set of inflight calls; -1: not in it. */
  setIndex = -1;
  /** Null: the request has no body. */
  body: RequestBody | null = null;
  /** Set when the request asks for a WebSocket. */
  handshake: WebSocketHandshake | null = null;

  readonly access = new AccessState();
  /** Set by `route` in phase ACCEPTED, and again when access is checked once more in phase ROUTED. */
  routed: RouteResult | null = null;
  readonly admission = new AdmissionState();
  readonly upstreamCall = new UpstreamCallState();
  readonly response = new ResponseState();
  readonly metering = new MeteringState();

  /** Error class of the usage record; `''` = none. */
  errorClass = '';
  /** The agent has disconnected; `res` must not be touched. */
  aborted = false;
  /** The usage record was written, or is about to be once the meter has decoded the response. */
  settled = false;

  constructor(res: AgentResponse, request: AcceptedRequest, observer: ExchangeObserver) {
    this.res = res;
    this.request = request;
    this.#observer = observer;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Moves the call to a later phase. An earlier or the same one is counted as a failed invariant and ignored. */
  advanceTo(phase: Phase): void {
    if (!invariant(phase > this.#phase, 'exchange_phase_advances')) return;
    if (phase !== Phase.FINISHED) this.#progress = phase;
    this.#phase = phase;
  }

  /** Nothing may be written to `res` any more. */
  get isFinished(): boolean {
    return this.#phase === Phase.FINISHED;
  }

  /** The upstream call was begun, and a usage record follows; stays true in phase FINISHED. */
  get wasForwarded(): boolean {
    return this.#progress >= Phase.FORWARDED;
  }

  /** The limits admitted the call. */
  get wasAdmitted(): boolean {
    return this.admission.result !== null;
  }

  /** The request asks for a WebSocket. */
  get isWebSocket(): boolean {
    return this.handshake !== null;
  }

  get hasEnded(): boolean {
    return this.isFinished || this.response.rejection !== null;
  }

  /** Rejects the request, which is not sent upstream; the response leaves in a later turn. See `onResendRejected`. */
  reject(rejection: Rejection): void {
    if (this.hasEnded) return;
    this.#observer.releaseConnection(this);
    const { onResendRejected } = this.upstreamCall;
    if (onResendRejected !== null) {
      this.upstreamCall.onResendRejected = null;
      onResendRejected(rejection);
      return;
    }
    this.response.rejection = rejection;
    this.#observer.recordRejectionAndRelease(this, rejection);
    if (this.response.isTarpitted) {
      this.body?.discard();
      setTimeout(sendRejection, TARPIT_DELAY_MS, this);
      return;
    }
    // Never inside the parser: only in a later turn does the server drop bytes that were pipelined in this segment.
    runInLaterTurn(rejection.closesConnection || this.mustCloseConnection, () => sendRejection(this));
  }

  /** Responds to a call whose upstream failed before its response head, after its usage record was written. */
  sendRejectionNow(rejection: Rejection): void {
    if (this.isFinished) return;
    this.response.rejection = rejection;
    sendRejection(this);
  }

  /** Responds with a JSON document of the gateway, in a later turn for the same reason as a rejection. */
  respondJson(body: string, status = 200): void {
    runInLaterTurn(this.mustCloseConnection, () => {
      if (this.isFinished) return;
      this.response.status = status;
      this.res.cork(() => {
        this.res.writeStatus(statusLine(status));
        this.res.writeHeader('content-type', `application/json\r\nx-gateway-request-id: ${this.request.id}`);
        const close = this.mustCloseConnection;
        this.markFinished();
        this.res.end(body, close);
      });
    });
  }

  /** Turns the connection into a WebSocket, which the session owns from then on. */
  upgradeToWebSocket(corkContext: Pick<UpgradeCorkContext, 'cork'>, handOver: (res: UpgradableResponse) => void): void {
    if (this.isFinished) return;
    this.res.cork(() => {
      this.res.writeStatus('101 Switching Protocols');
      this.res.writeHeader('x-gateway-request-id', this.request.id);
    });
    this.markFinished();
    // The response's own `cork` would treat the connection as the HTTP one that it was, and might close it (UWS.md).
    corkContext.cork(() => handOver(this.res as UpgradableResponse));
  }

  /** The response was handed to the server completely. */
  markFinished(): void {
    if (this.isFinished) return;
    this.advanceTo(Phase.FINISHED);
    this.body?.discard();
    this.#observer.onEnded(this);
  }

  /** Closes the agent's connection, so that a truncated response never looks complete. */
  destroyConnection(): void {
    if (this.isFinished) return;
    this.markFinished();
    this.res.close();
  }

  get mustCloseConnection(): boolean {
    return this.request.closesConnectionAfter || (this.body !== null && !this.body.isComplete);
  }
}

function sendRejection(exchange: Exchange): void {
  if (!exchange.isFinished) exchange.res.cork(() => writeRejection(exchange));
}

function writeRejection(exchange: Exchange): void {
  const rejection = exchange.response.rejection!;
  const close = rejection.closesConnection || exchange.mustCloseConnection;
  exchange.response.status = rejection.status;
  writeRejectionHead(exchange.res, exchange.request.id, rejection);
  exchange.markFinished();
  if (exchange.request.method === 'HEAD') exchange.res.endWithoutBody(0, close);
  else exchange.res.end(rejection.body, close);
}
