/**
 * Carries one upstream response to the agent, as the handler of an upstream call.
 *
 *   upstream chunk ─▶ meter (tee) ─▶ edits ─▶ pending ─▶ one corked write at the end of the loop turn ─▶ agent
 *
 * What arrives in one turn leaves in one system call in that turn. An agent slower than the provider pauses the
 * upstream. The last byte is held until the usage record is on disk (docs/contract.md#usage). After the first byte, a
 * failure breaks the agent's connection.
 */

import { ignore } from '@acg/base/ignore';
import type { AgentResponse } from './agent-response.js';
import type { RoutedExchange } from './exchange.js';
import { rateLimitBit, rateLimits, serverTiming } from './own-headers.js';
import { statusLine } from './rejections.js';
import type { ResponsePlan } from './response-plan.js';
import type { Settle } from './settle.js';
import type { SilenceWatch, SilentResponse } from './silence.js';

/** The decisions around a response that are not the relay's. */
export interface RelaySupport {
  /** Reads the response head; called once. Sets meter and edits through {@link ResponsePlan}. */
  plan(x: RoutedExchange, status: number, rawHeaders: readonly string[]): ResponsePlan;
  readonly settle: Settle;
  /** The upstream failed before its response head. */
  failed(x: RoutedExchange, error: Error): void;
  /** The upstream failed after its response head. Sets the error class. */
  cut(x: RoutedExchange, error: Error): void;
  /** The upstream connection is free again. */
  release(x: RoutedExchange): void;
  readonly garbage: { note(bytes: number): void };
  readonly silence: Pick<SilenceWatch, 'add' | 'delete'>;
}

/** An answer after which the connection must end leaves in one piece up to this; it fits into any socket's buffer. */
const ENDED_WHOLE_BYTES_MAX = 16 * 1024;
const BODILESS = 0;
const FIXED = 1;
const CHUNKED = 2;
const aborted = new Error('the agent has gone');

export class Relay implements SilentResponse {
  bagIndex = -1;
  heardTick = 0;
  readonly #x: RoutedExchange;
  readonly #res: AgentResponse;
  readonly #support: RelaySupport;
  #plan: ResponsePlan | null = null;
  #framing: typeof BODILESS | typeof FIXED | typeof CHUNKED = CHUNKED;
  #pending: Buffer[] = [];
  /** Bytes of the body that were put into `pending` so far. */
  #queued = 0;
  #flushScheduled = false;
  #headWritten = false;
  /** The agent's socket takes no more until `onWritable`. */
  #blocked = false;
  /** The upstream was told to wait. */
  #paused = false;
  /** The record is on disk: the last byte may leave. */
  #released = false;
  #connectionFree = false;
  /** The gateway ended the response; the upstream has no more say in it. */
  #cutOff = false;
  #resumeUpstream: (() => void) | null = null;
  #abortUpstream: ((error?: Error) => void) | null = null;

  constructor(x: RoutedExchange, support: RelaySupport) {
    this.#x = x;
    this.#res = x.res;
    this.#support = support;
  }

  /** The agent has gone: ends the upstream call at once. */
  abort(): void {
    this.#x.sentWhole = this.#x.connection?.sentWhole ?? false;
    this.#pending = [];
    this.#support.silence.delete(this);
    this.#abortUpstream?.(aborted);
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#x.finished) {
      abort(aborted);
      return;
    }
    this.#x.sent = true;
    this.#abortUpstream = abort;
  }

  onHeaders(status: number, rawHeaders: string[], resume: () => void): void {
    if (status < 200) return; // informational: dropped (docs/contract.md#what-is-taken-for-a-request)
    const x = this.#x;
    x.respondedTick = performance.now();
    x.upstreamStatus = status;
    x.responseStatus = status;
    this.#resumeUpstream = resume;
    const plan = this.#support.plan(x, status, rawHeaders);
    this.#plan = plan;
    if (x.request.method === 'HEAD' || status === 204 || status === 304) this.#framing = BODILESS;
    else if (plan.head.contentLength >= 0 && !plan.lengthChanges) this.#framing = FIXED;
    this.#scheduleFlush();
  }

  onData(chunk: Buffer): boolean {
    const x = this.#x;
    if (x.finished) return false;
    x.bytesOut += chunk.length;
    this.#support.garbage.note(chunk.length);
    x.meter?.observe(chunk);
    const plan = this.#plan!;
    if (x.failureHead.length < plan.failureHeadBytes)
      x.failureHead += chunk.toString('latin1', 0, plan.failureHeadBytes);
    let bytes = chunk;
    if (plan.edits !== null) for (let i = 0; i < plan.edits.length; i++) bytes = plan.edits[i]!.push(bytes);
    this.#queueMasked(bytes);
    this.#scheduleFlush();
    // While the agent's socket is full nothing leaves: what one more read brought is the most that waits here.
    this.#paused = this.#blocked;
    return !this.#blocked;
  }

  onComplete(): void {
    const x = this.#x;
    this.#free();
    if (x.finished || this.#cutOff) return;
    x.responseComplete = true;
    this.#flushAll();
    this.#support.settle(x, this.#onBooked);
  }

  onError(error: Error): void {
    const x = this.#x;
    this.#free();
    if (x.finished || this.#cutOff) return;
    if (this.#plan === null) {
      this.#support.failed(x, error);
      return;
    }
    this.#support.cut(x, error);
    x.breakOff();
    this.#support.settle(x, ignore);
  }

  /**
   * Ends the response behind what has passed, and the upstream call with it; sets no error class. `last`: the event that
   * says why; where it is null or the body is no stream of plain events, the agent's connection breaks.
   */
  cutOff(last: Buffer | null): void {
    const x = this.#x;
    this.#cutOff = true;
    this.#abortUpstream?.(aborted);
    this.#free();
    const { mediaType, contentEncoding } = this.#plan!.head;
    const fits = mediaType === 'text/event-stream' && contentEncoding === '' && this.#framing === CHUNKED;
    if (last === null || !fits) {
      x.breakOff();
      this.#support.settle(x, ignore);
      return;
    }
    this.#flushEdits();
    // What the mask holds back may be the beginning of a credential whose end does not come.
    this.#plan!.mask?.drop();
    this.#support.settle(x, (error) => {
      this.#queue(last);
      this.#onBooked(error);
    });
  }

  readonly #onBooked = (error: Error | null): void => {
    const x = this.#x;
    if (x.finished) return;
    if (error !== null) {
      x.breakOff();
      return;
    }
    this.#released = true;
    if (!this.#blocked) this.#res.cork(this.#write);
  };

  #free(): void {
    if (this.#connectionFree) return;
    this.#connectionFree = true;
    this.#support.silence.delete(this);
    // The connection carries other calls from now on.
    this.#abortUpstream = null;
    this.#resumeUpstream = null;
    this.#support.release(this.#x);
  }

  #queue(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#pending.push(bytes);
    this.#queued += bytes.length;
  }

  /** The provider is silent: what the mask holds back will not become longer for now. */
  releaseHeld(): void {
    if (this.#x.finished || this.#x.responseComplete) return;
    this.#queue(this.#plan!.mask!.flush());
    this.#scheduleFlush();
  }

  /** Nothing comes behind what has come: known of a body of a stated length, and edits may hold some of it back. */
  get #bodyIsWhole(): boolean {
    const { edits, head } = this.#plan!;
    return edits === null && this.#framing === FIXED && this.#x.bytesOut >= head.contentLength;
  }

  #queueMasked(bytes: Buffer): void {
    const { mask } = this.#plan!;
    if (mask === null) {
      this.#queue(bytes);
      return;
    }
    const leaving = mask.push(bytes, this.#bodyIsWhole);
    this.#queue(mask.released);
    this.#queue(leaving);
    if (mask.holding) {
      this.heardTick = performance.now();
      this.#support.silence.add(this);
    } else if (this.bagIndex >= 0) this.#support.silence.delete(this);
  }

  #flushAll(): void {
    this.#flushEdits();
    const { mask } = this.#plan!;
    if (mask !== null) this.#queue(mask.flush());
  }

  /** The tails that edits held back, each through the edits after it. */
  #flushEdits(): void {
    const { edits } = this.#plan!;
    for (let i = 0; edits !== null && i < edits.length; i++) {
      let bytes = edits[i]!.flush();
      for (let j = i + 1; j < edits.length; j++) bytes = edits[j]!.push(bytes);
      this.#queueMasked(bytes);
    }
  }

  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    process.nextTick(flushRelay, this);
  }

  /** Runs when this turn's bytes of the upstream are all here. A response that is complete leaves in one piece later. */
  flush(): void {
    this.#flushScheduled = false;
    if (this.#x.finished || this.#x.responseComplete || this.#blocked) return;
    if (!this.#headWritten && !this.#mayBegin()) return;
    this.#res.cork(this.#write);
  }

  /**
   * The head of a body leaves together with its first bytes: the server ends a head only with bytes of the body, and
   * takes an empty first piece for the answer to a HEAD, whose response it then ends (see dataplane/UWS.md).
   */
  #mayBegin(): boolean {
    if (this.#framing === BODILESS) return true;
    if (this.#pending.length === 0) return false;
    return this.#framing === CHUNKED || !this.#onlyLastPieceWaits();
  }

  /** The end of a body of known length waits for the usage record. */
  #onlyLastPieceWaits(): boolean {
    return !this.#released && this.#pending.length === 1 && this.#queued >= this.#plan!.head.contentLength;
  }

  readonly #write = (): void => {
    if (!this.#headWritten) {
      this.#headWritten = true;
      const whole = this.#released && (!this.#x.closes || this.#queued <= ENDED_WHOLE_BYTES_MAX);
      this.#writeHead(whole && this.#framing !== BODILESS);
      if (whole) {
        this.#endAtOnce();
        return;
      }
      this.#res.onWritable(this.#onWritable);
    }
    if (this.#framing === FIXED) this.#writeFixed();
    else if (this.#framing === CHUNKED) this.#writeChunked();
    else if (this.#released) this.#endBodiless();
  };

  /** `endsItself`: the server says itself that the connection ends, and ends it. */
  #writeHead(endsItself: boolean): void {
    const x = this.#x;
    const { headers, contentLength } = this.#plan!.head;
    const res = this.#res;
    res.writeStatus(statusLine(x.upstreamStatus));
    let own = `${x.request.id}${serverTiming(x)}`;
    let theirs = 0;
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      const value = headers[i + 1]!;
      if (name === 'date') continue; // the server writes its own
      if (name.startsWith('x-ratelimit-')) theirs |= rateLimitBit(name);
      if (typeof value === 'string') own += `\r\n${name}: ${value}`;
      else res.writeHeader(name, value);
    }
    own += rateLimits(x, theirs);
    if (this.#framing === BODILESS) {
      if (contentLength >= 0 && x.upstreamStatus !== 204) own += `\r\ncontent-length: ${contentLength}`;
    }
    if (x.closes && !endsItself) own += '\r\nconnection: close';
    // One native call for all headers: the server joins name and value as they are. The values were checked.
    res.writeHeader('x-gateway-request-id', own);
  }

  /** Everything is here and nothing was written: one write for head and body. */
  #endAtOnce(): void {
    const x = this.#x;
    const pending = this.#pending;
    this.#pending = [];
    if (this.#framing === BODILESS) {
      this.#endBodiless();
      return;
    }
    const close = x.closes;
    x.finish();
    if (this.#framing === FIXED || close) {
      this.#res.end(pending.length === 1 ? pending[0]! : Buffer.concat(pending), close);
      return;
    }
    for (let i = 0; i < pending.length; i++) this.#res.write(pending[i]!);
    this.#res.end();
  }

  #endBodiless(): void {
    this.#readNoMore();
    this.#x.finish();
    this.#res.endWithoutBody();
  }

  /**
   * The server can end a connection itself only with a body of one piece; after `write` its own `Connection: close`
   * would land in the middle of the body. Elsewhere our header asks the agent's side to end it, and nothing is read from
   * it any more: it ends when the server's idle time has passed. Anything that waits to be written would undo the pause.
   */
  #readNoMore(): void {
    if (this.#x.closes) this.#res.pause();
  }

  #writeChunked(): void {
    const pending = this.#pending;
    for (let i = 0; i < pending.length; i++) if (!this.#res.write(pending[i]!)) this.#blocked = true;
    this.#pending = [];
    if (!this.#released || (this.#blocked && this.#x.closes)) return;
    this.#readNoMore();
    this.#x.finish();
    this.#res.end();
  }

  #writeFixed(): void {
    const total = this.#plan!.head.contentLength;
    while (this.#pending.length > 0) {
      if (this.#onlyLastPieceWaits()) return;
      const chunk = this.#pending[0]!;
      if (this.#released && this.#pending.length === 1) this.#readNoMore();
      const before = this.#res.getWriteOffset();
      const [ok, done] = this.#res.tryEnd(chunk, total);
      if (done) {
        this.#x.finish();
        return;
      }
      if (ok) {
        this.#pending.shift();
        continue;
      }
      const written = this.#res.getWriteOffset() - before;
      if (written >= chunk.length) this.#pending.shift();
      else this.#pending[0] = chunk.subarray(written);
      this.#blocked = true;
      return;
    }
  }

  readonly #onWritable = (): boolean => {
    if (this.#x.finished) return true;
    this.#blocked = false;
    if (!this.#x.responseComplete || this.#released) this.#res.cork(this.#write);
    if (!this.#blocked && this.#paused) {
      this.#paused = false;
      this.#resumeUpstream?.();
    }
    return true;
  };
}

const flushRelay = (relay: Relay): void => relay.flush();
