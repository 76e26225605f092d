/**
 * Relays one upstream response to the agent, as the handler of an upstream call.
 *
 *   upstream chunk ─▶ meter (tee) ─▶ edits ─▶ pending ─▶ one corked write at the end of the event-loop tick ─▶ agent
 *
 * Bytes that arrive in one tick are sent in one system call in that tick. An agent slower than the provider pauses the
 * upstream. The last byte is held until the usage record is on disk (docs/contract.md#usage). After the first byte, a
 * failure breaks the agent's connection.
 */

import { noop } from '@acg/base/noop';
import type { AgentResponse } from '../call/agent-response-interface.js';
import { Phase, type RoutedExchange } from '../call/exchange.js';
import type { ResponsePlan } from '../call/response-plan-types.js';
import type { Settle } from '../call/settle.js';
import type { Rejection } from '../rejection/rejections.js';
import { writeForwardedHead } from './gateway-headers.js';
import type { IdleFlushTimer, IdleResponse } from './idle-flush-timer.js';

/** Decisions about a response that the relay does not make itself. */
export interface RelayDeps {
  /** Reads the response head; called once. Sets meter and edits through {@link ResponsePlan}. */
  planResponse(exchange: RoutedExchange, status: number, rawHeaders: readonly string[]): ResponsePlan;
  readonly settle: Settle;
  /** The upstream failed before its response head. */
  onFailureBeforeHead(exchange: RoutedExchange, error: Error): void;
  /** The upstream failed after its response head. Sets the error class. */
  onFailureAfterHead(exchange: RoutedExchange, error: Error): void;
  /** The upstream connection is free again. */
  releaseConnection(exchange: RoutedExchange): void;
  readonly gcPacer: { onBytesAllocated(bytes: number): void };
  readonly idleFlushTimer: Pick<IdleFlushTimer, 'add' | 'delete'>;
}

/**
 * Up to this size, a response after which the connection must close is written in one piece; it fits any socket buffer.
 */
const SINGLE_WRITE_BYTES_MAX = 16 * 1024;
const BODILESS = 0;
const FIXED = 1;
const CHUNKED = 2;
const CLIENT_ABORTED = new Error('the agent has gone');

export class Relay implements IdleResponse {
  setIndex = -1;
  lastDataAtPerfMs = 0;
  readonly #exchange: RoutedExchange;
  readonly #res: AgentResponse;
  readonly #deps: RelayDeps;
  #plan: ResponsePlan | null = null;
  #framing: typeof BODILESS | typeof FIXED | typeof CHUNKED = CHUNKED;
  #pending: Buffer[] = [];
  /** Bytes of the body that were added to `pending` so far. */
  #queuedBytes = 0;
  #isFlushScheduled = false;
  #isHeadWritten = false;
  /** The agent's socket takes no bytes until `onWritable`. */
  #isBlocked = false;
  /** The upstream is paused. */
  #isUpstreamPaused = false;
  /** The usage record is on disk: the last byte may be sent. */
  #isRecorded = false;
  #isConnectionReleased = false;
  /** The gateway ended the response; later upstream events are ignored. */
  #endedEarly = false;
  #resumeUpstream: (() => void) | null = null;
  #abortUpstream: ((error?: Error) => void) | null = null;

  constructor(exchange: RoutedExchange, support: RelayDeps) {
    this.#exchange = exchange;
    this.#res = exchange.res;
    this.#deps = support;
  }

  /** The agent has disconnected: aborts the upstream call. */
  abort(): void {
    this.#exchange.upstreamCall.requestFullySent = this.#exchange.upstreamCall.connection?.isRequestSent ?? false;
    this.#pending = [];
    this.#deps.idleFlushTimer.delete(this);
    this.#abortUpstream?.(CLIENT_ABORTED);
  }

  onConnect(abort: (error?: Error) => void): void {
    const exchange = this.#exchange;
    exchange.upstreamCall.requestSent = true;
    exchange.upstreamCall.onResendRejected = null;
    if (!exchange.wasForwarded) exchange.advanceTo(Phase.FORWARDED);
    this.#abortUpstream = abort;
  }

  onHeaders(status: number, rawHeaders: string[], resume: () => void): void {
    if (status < 200) return; // informational: dropped (docs/contract.md#request-framing)
    const exchange = this.#exchange;
    if (!exchange.isFinished) exchange.advanceTo(Phase.RESPONDING);
    exchange.upstreamCall.repeatable = null;
    exchange.upstreamCall.respondedAtPerfMs = performance.now();
    exchange.upstreamCall.status = status;
    exchange.response.status = status;
    this.#resumeUpstream = resume;
    const plan = this.#deps.planResponse(exchange, status, rawHeaders);
    this.#plan = plan;
    if (plan.rejection !== null) {
      this.#replaceResponse(plan.rejection);
      return;
    }
    if (plan.firstBytes !== null) this.#enqueue(plan.firstBytes);
    if (exchange.request.method === 'HEAD' || status === 204 || status === 304) this.#framing = BODILESS;
    else if (plan.head.contentLength >= 0 && !plan.changesLength) this.#framing = FIXED;
    this.#scheduleFlush();
  }

  onData(chunk: Buffer): boolean {
    const exchange = this.#exchange;
    if (exchange.isFinished || this.#endedEarly) return false;
    exchange.metering.bytesOut += chunk.length;
    this.#deps.gcPacer.onBytesAllocated(chunk.length);
    exchange.metering.meter?.observe(chunk);
    const plan = this.#plan!;
    if (exchange.upstreamCall.failureBodyPrefix.length < plan.failureBodyPrefixBytes)
      exchange.upstreamCall.failureBodyPrefix += chunk.toString('latin1', 0, plan.failureBodyPrefixBytes);
    let bytes = chunk;
    if (plan.edits !== null) for (let i = 0; i < plan.edits.length; i++) bytes = plan.edits[i]!.push(bytes);
    this.#enqueueMasked(bytes);
    this.#scheduleFlush();
    // While the agent's socket is full nothing is sent, so at most one more read is buffered here.
    this.#isUpstreamPaused = this.#isBlocked;
    return !this.#isBlocked;
  }

  onComplete(): void {
    const exchange = this.#exchange;
    this.#releaseConnection();
    if (exchange.isFinished || this.#endedEarly) return;
    exchange.upstreamCall.responseComplete = true;
    this.#flushEditsAndMask();
    this.#deps.settle(exchange, this.#onRecorded);
  }

  onError(error: Error): void {
    const exchange = this.#exchange;
    this.#releaseConnection();
    if (exchange.isFinished || this.#endedEarly) return;
    if (this.#plan === null) {
      this.#deps.onFailureBeforeHead(exchange, error);
      return;
    }
    this.#deps.onFailureAfterHead(exchange, error);
    const last = this.#framing === CHUNKED ? (this.#plan.edits?.at(0)?.flushCut?.() ?? null) : null;
    if (last === null) {
      exchange.destroyConnection();
      this.#deps.settle(exchange, noop);
      return;
    }
    this.#endedEarly = true;
    this.#enqueueMasked(last);
    this.#flushMask();
    this.#deps.settle(exchange, this.#onRecorded);
  }

  /** Aborts the upstream call and sends the rejection once the call is booked. */
  #replaceResponse(rejection: Rejection): void {
    const exchange = this.#exchange;
    this.#endedEarly = true;
    this.#abortUpstream?.(CLIENT_ABORTED);
    this.#releaseConnection();
    exchange.response.status = rejection.status;
    this.#deps.settle(exchange, () => exchange.sendRejectionNow(rejection));
  }

  /**
   * Ends the response after the bytes sent so far, and aborts the upstream call; sets no error class. `createLast`
   * returns an error event for the agent by the response's media type. If it returns null, or the body is compressed or
   * has a stated length, the agent's connection breaks.
   */
  endEarly(createLast: (mediaType: string) => Buffer | null): void {
    const exchange = this.#exchange;
    this.#endedEarly = true;
    this.#abortUpstream?.(CLIENT_ABORTED);
    this.#releaseConnection();
    const { mediaType, contentEncoding } = this.#plan!.head;
    const last = contentEncoding === '' && this.#framing === CHUNKED ? createLast(mediaType) : null;
    if (last === null) {
      exchange.destroyConnection();
      this.#deps.settle(exchange, noop);
      return;
    }
    this.#flushEdits();
    this.#deps.settle(exchange, (error) => {
      this.#enqueue(this.#plan!.mask?.endWith(last) ?? last);
      this.#onRecorded(error);
    });
  }

  readonly #onRecorded = (error: Error | null): void => {
    const exchange = this.#exchange;
    if (exchange.isFinished) return;
    if (error !== null) {
      exchange.destroyConnection();
      return;
    }
    this.#isRecorded = true;
    if (!this.#isBlocked) this.#res.cork(this.#write);
  };

  #releaseConnection(): void {
    if (this.#isConnectionReleased) return;
    this.#isConnectionReleased = true;
    this.#deps.idleFlushTimer.delete(this);
    // The connection carries other calls from now on.
    this.#abortUpstream = null;
    this.#resumeUpstream = null;
    this.#deps.releaseConnection(this.#exchange);
  }

  #enqueue(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#queuedBytes += bytes.length;
  }

  /** The provider is silent: sends the bytes that the mask holds back. */
  flushHeldBytes(): void {
    if (this.#exchange.isFinished || this.#exchange.upstreamCall.responseComplete) return;
    this.#enqueue(this.#plan!.mask!.flush());
    this.#scheduleFlush();
  }

  /** Whether the body is complete: known for a body of stated length without edits, which may hold bytes back. */
  get #isBodyWhole(): boolean {
    const { edits, head } = this.#plan!;
    return edits === null && this.#framing === FIXED && this.#exchange.metering.bytesOut >= head.contentLength;
  }

  #enqueueMasked(bytes: Buffer): void {
    const { mask } = this.#plan!;
    if (mask === null) {
      this.#enqueue(bytes);
      return;
    }
    const leaving = mask.push(bytes, this.#isBodyWhole);
    this.#enqueue(mask.released);
    this.#enqueue(leaving);
    if (mask.hasHeldBytes) {
      this.lastDataAtPerfMs = performance.now();
      this.#deps.idleFlushTimer.add(this);
    } else if (this.setIndex >= 0) this.#deps.idleFlushTimer.delete(this);
  }

  #flushEditsAndMask(): void {
    this.#flushEdits();
    this.#flushMask();
  }

  #flushMask(): void {
    const { mask } = this.#plan!;
    if (mask !== null) this.#enqueue(mask.flush());
  }

  /** Sends the tails that edits held back, each through the edits after it. */
  #flushEdits(): void {
    const { edits } = this.#plan!;
    for (let i = 0; edits !== null && i < edits.length; i++) {
      let bytes = edits[i]!.flush();
      for (let j = i + 1; j < edits.length; j++) bytes = edits[j]!.push(bytes);
      this.#enqueueMasked(bytes);
    }
  }

  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    process.nextTick(flushRelay, this);
  }

  /** Runs after the upstream's bytes of this tick have arrived. A complete response is written later in one piece. */
  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#exchange.isFinished || this.#exchange.upstreamCall.responseComplete || this.#isBlocked) return;
    if (!this.#isHeadWritten && !this.#canWriteHead()) return;
    this.#res.cork(this.#write);
  }

  /**
   * A head is sent together with the first bytes of its body: the server ends a head only with body bytes. It takes an
   * empty first chunk for the response to a HEAD and ends the response (see dataplane/UWS.md).
   */
  #canWriteHead(): boolean {
    if (this.#framing === BODILESS) return true;
    if (this.#pending.length === 0) return false;
    return this.#framing === CHUNKED || !this.#onlyLastChunkWaits();
  }

  /** The end of a body of known length waits for the usage record. */
  #onlyLastChunkWaits(): boolean {
    return !this.#isRecorded && this.#pending.length === 1 && this.#queuedBytes >= this.#plan!.head.contentLength;
  }

  readonly #write = (): void => {
    if (!this.#isHeadWritten) {
      this.#isHeadWritten = true;
      const whole =
        this.#isRecorded && (!this.#exchange.mustCloseConnection || this.#queuedBytes <= SINGLE_WRITE_BYTES_MAX);
      const isBodiless = this.#framing === BODILESS;
      // The server announces and closes the connection itself after a body of one piece.
      writeForwardedHead(this.#exchange, this.#plan!.head, isBodiless, !whole || isBodiless);
      if (whole) {
        this.#writeWholeResponse();
        return;
      }
      this.#res.onWritable(this.#onWritable);
    }
    if (this.#framing === FIXED) this.#writeFixed();
    else if (this.#framing === CHUNKED) this.#writeChunked();
    else if (this.#isRecorded) this.#endBodiless();
  };

  /** The response is complete and nothing was written: writes head and body at once. */
  #writeWholeResponse(): void {
    const exchange = this.#exchange;
    const pending = this.#pending;
    this.#pending = [];
    if (this.#framing === BODILESS) {
      this.#endBodiless();
      return;
    }
    const close = exchange.mustCloseConnection;
    exchange.markFinished();
    if (this.#framing === FIXED || close) {
      this.#res.end(pending.length === 1 ? pending[0]! : Buffer.concat(pending), close);
      return;
    }
    for (let i = 0; i < pending.length; i++) this.#res.write(pending[i]!);
    this.#res.end();
  }

  #endBodiless(): void {
    this.#pauseAgentReads();
    this.#exchange.markFinished();
    this.#res.endWithoutBody();
  }

  /**
   * Stops reading from an agent whose connection must close. The server can close a connection itself only after a body
   * of one piece; after `write` its own `Connection: close` would land inside the body. Otherwise our header asks the
   * agent to close, and the connection ends after the server's idle timeout. Pending writes would undo the pause.
   */
  #pauseAgentReads(): void {
    if (this.#exchange.mustCloseConnection) this.#res.pause();
  }

  #writeChunked(): void {
    const pending = this.#pending;
    for (let i = 0; i < pending.length; i++) if (!this.#res.write(pending[i]!)) this.#isBlocked = true;
    this.#pending = [];
    if (!this.#isRecorded || (this.#isBlocked && this.#exchange.mustCloseConnection)) return;
    this.#pauseAgentReads();
    this.#exchange.markFinished();
    this.#res.end();
  }

  #writeFixed(): void {
    const total = this.#plan!.head.contentLength;
    while (this.#pending.length > 0) {
      if (this.#onlyLastChunkWaits()) return;
      const chunk = this.#pending[0]!;
      if (this.#isRecorded && this.#pending.length === 1) this.#pauseAgentReads();
      const before = this.#res.getWriteOffset();
      const [ok, done] = this.#res.tryEnd(chunk, total);
      if (done) {
        this.#exchange.markFinished();
        return;
      }
      if (ok) {
        this.#pending.shift();
        continue;
      }
      const written = this.#res.getWriteOffset() - before;
      if (written >= chunk.length) this.#pending.shift();
      else this.#pending[0] = chunk.subarray(written);
      this.#isBlocked = true;
      return;
    }
  }

  readonly #onWritable = (): boolean => {
    if (this.#exchange.isFinished) return true;
    this.#isBlocked = false;
    if (!this.#exchange.upstreamCall.responseComplete || this.#isRecorded) this.#res.cork(this.#write);
    if (!this.#isBlocked && this.#isUpstreamPaused) {
      this.#isUpstreamPaused = false;
      this.#resumeUpstream?.();
    }
    return true;
  };
}

const flushRelay = (relay: Relay): void => relay.flush();
