/**
 * The data plane's link to the control plane: `ResolveTokens` for cache misses, and one supervised `Watch` stream.
 *
 *   connecting ──Hello──▶ catching up ──seen revision = Hello's──▶ up ──silence or end──▶ down ──jitter──▶ connecting
 *
 * The cache is trusted again (`onLinkUp`) only after all missed invalidations were replayed, or after a reset. Every
 * event counts as a heartbeat. Silence of two and a half heartbeats ends the stream, and the next one goes to another
 * instance. FAILED_PRECONDITION means that this data plane must not run: `onFatal`.
 */
import { type Cell, NO_CELL } from '@acg/base/cells';
import { type Logger, maskSecrets } from '@acg/base/log';
import { type ControlPlaneClient, grpcStatus, LinkError, type WatchCall } from '@acg/proto/control-plane-client';
import {
  type ICircuitState,
  type ICounterLayout,
  type IHeartbeat,
  type IHello,
  type IPriceBook,
  type IResolveTokenResponse,
  type IWatchEvent,
  LayoutStage as WireLayoutStage,
} from '@acg/proto/messages';
import type { LayoutStage } from '../limits/counters-interface.js';
import type { AgentContext } from './agent-context.js';
import type { ContextCache, ContextResolver, Resolution } from './context-cache.js';
import { decodeResolution } from './decode-resolution.js';
import {
  decodeFormer,
  type FormerCredential,
  INVALIDATION_KINDS,
  type Invalidation,
} from './invalidation-matching-and-history.js';
import { ResolveBatcher, type TokenQuery } from './resolve-batcher.js';

interface DataPlaneIdentity {
  /** Stored in the data directory; a new registration with the same id replaces the old one. */
  readonly dataPlaneId: string;
  readonly counters: 'memory' | 'redis';
  readonly version: string;
}

/** Receives events of `Watch`, called from the stream in the order of the events. */
export interface LinkListener {
  /** All breakers that are not CLOSED; every other one is CLOSED. Called on each (re)connection. */
  onCircuits(circuits: readonly ICircuitState[]): void;
  onCircuit(circuit: ICircuitState): void;
  /** Replaces all operator prices. Called on each (re)connection and when they change. */
  onPrices(prices: IPriceBook): void;
  /** Which keys of the counter store count. Called on each (re)connection and with each heartbeat. */
  onCounterLayout(stage: LayoutStage): void;
  /** The cache was dropped: revocations may have been missed. */
  onReset(): void;
  /** Only with `endsSessions`: open streams and WebSockets must end. `contexts`: those of the cache that it affects. */
  onSessionsEnd(invalidation: Invalidation, contexts: readonly AgentContext[]): void;
  /** The control plane asks whether calls in flight still use these. Called with each heartbeat. */
  onRetiring(former: readonly FormerCredential[]): void;
  /** The process must stop; `message` says why and what to set. */
  onFatal(message: string): void;
}

const RESOLVE_TIMEOUT_MS = 5_000;
const HELLO_TIMEOUT_MS = 5_000;
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 2_000;
const HEARTBEATS_MISSED = 2.5;
/** The keys of the counter store that this release writes, see docs/counters.md#upgrade. */
const COUNTER_LAYOUT = 2;
const RESOLVE_FAILED = 'resolve failed';
/** Beyond it usage may fall into the wrong day or month, and beyond tomorrow it cannot be booked. */
const CLOCK_OFFSET_MS_MAX = 300_000;

/** Whether a data plane with this offset from the database's clock must not take calls. */
export const isClockOff = (offsetMs: number): boolean => Math.abs(offsetMs) > CLOCK_OFFSET_MS_MAX;

export class ControlPlaneLink implements ContextResolver {
  readonly #client: ControlPlaneClient;
  readonly #identity: DataPlaneIdentity;
  readonly #listener: LinkListener;
  readonly #log: Logger;
  readonly #random: () => number;
  readonly #cell: Cell;
  readonly #batch = new ResolveBatcher((queries) => this.#resolveTokens(queries));
  #cache: ContextCache | null = null;
  #watch: WatchCall | null = null;
  /** Fires when the stream is silent. */
  #silenceTimer: NodeJS.Timeout | null = null;
  #silenceTimeoutMs = HELLO_TIMEOUT_MS;
  #reconnectTimer: NodeJS.Timeout | null = null;
  #failures = 0;
  /** Random mark that the control plane sent with the cache's seen revision; '' = unknown. */
  #seenRevisionMark = '';
  /** Hello's revision while older invalidations are still being replayed; null before Hello. */
  #catchUpRevision: number | null = null;
  /** Slugs that exist for every organization, by the last Hello. */
  #builtInProviders: ReadonlySet<string> = new Set();
  #isUp = false;
  #isReady = false;
  #stopped = false;
  #lastEventMs = performance.now();
  /** Time of this machine minus the database's, ms; null: not known. */
  #clockOffsetMs: number | null = null;
  /** Problems that were logged and still last, so that an outage logs one line for each kind. */
  readonly #logged = new Set<string>();

  constructor(
    client: ControlPlaneClient,
    identity: DataPlaneIdentity,
    listener: LinkListener,
    log: Logger,
    random: () => number = Math.random,
    /** The cell of this data plane, and the part of each limit that it grants (docs/regions.md#shares). */
    cell = NO_CELL,
  ) {
    this.#client = client;
    this.#identity = identity;
    this.#listener = listener;
    this.#log = log;
    this.#random = random;
    this.#cell = cell;
  }

  /** True from the first Hello on: contexts can be resolved. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Whether invalidations arrive right now. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Time since the last event of the control plane, ms. */
  get msSinceEvent(): number {
    return performance.now() - this.#lastEventMs;
  }

  /** Time of this machine minus the database's, ms, by the last event; 0 where the control plane does not send it. */
  get clockOffsetMs(): number {
    return this.#clockOffsetMs ?? 0;
  }

  start(cache: ContextCache): void {
    this.#cache = cache;
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#silenceTimer !== null) clearTimeout(this.#silenceTimer);
    if (this.#reconnectTimer !== null) clearTimeout(this.#reconnectTimer);
    this.#watch?.cancel();
    this.#watch = null;
    this.#markDown();
  }

  /**
   * Drops the cache after the control plane's database went back in time: earlier answers about tokens and sessions may
   * be wrong.
   */
  resetCache(): void {
    this.#cache!.reset(this.#cache!.seenRevision);
    this.#listener.onReset();
  }

  /** Resolves one token; all queries of one event-loop tick share a call. */
  resolve(tokenHash: string, agentRef: string, lane: object | null): Promise<Resolution> {
    return this.#batch.resolve({ tokenHash, agentRef }, lane);
  }

  /** Waits until the control plane has minted the account's credential, as long as it allows. */
  async resolveMinted(
    tokenHash: string,
    agentRef: string,
    mintAccountId: string,
    rejectedGeneration: number,
  ): Promise<Resolution> {
    const query = { tokenHash: Buffer.from(tokenHash, 'hex'), agentRef, mintAccountId, rejectedGeneration };
    const requestedAtMs = performance.now();
    try {
      const answer = await this.#client.resolveToken({ ...query, ...this.#dataPlaneFields }, RESOLVE_TIMEOUT_MS);
      return this.#decode(answer, requestedAtMs);
    } catch (error) {
      this.#logOnce(RESOLVE_FAILED, error);
      throw error;
    }
  }

  async #resolveTokens(queries: readonly TokenQuery[]): Promise<readonly (Resolution | Error)[]> {
    const requestedAtMs = performance.now();
    try {
      const answers = await this.#callResolveTokens(queries);
      this.#clearResolveFailures();
      return answers.map((answer) => {
        try {
          return this.#decode(answer, requestedAtMs);
        } catch (error) {
          this.#logOnce('cannot decode the answer for a token', error);
          return error as Error;
        }
      });
    } catch (error) {
      this.#logOnce(RESOLVE_FAILED, error);
      throw error;
    }
  }

  #decode(answer: IResolveTokenResponse, requestedAtMs: number): Resolution {
    return decodeResolution(answer, this.#builtInProviders, requestedAtMs, this.#cell);
  }

  /**
   * Resolving works again. Problems with the answer of a single token stay logged, because that token may be resolved
   * again.
   */
  #clearResolveFailures(): void {
    for (const kind of this.#logged) if (kind.startsWith(RESOLVE_FAILED)) this.#logged.delete(kind);
  }

  /** What each request for contexts says about this data plane. */
  get #dataPlaneFields() {
    return { dataPlaneId: this.#identity.dataPlaneId, budgetRows: true, cell: this.#cell.name };
  }

  async #callResolveTokens(queries: readonly TokenQuery[]): Promise<readonly IResolveTokenResponse[]> {
    const tokens = queries.map(({ tokenHash, agentRef }) => ({ tokenHash: Buffer.from(tokenHash, 'hex'), agentRef }));
    try {
      const { answers } = await this.#client.resolveTokens({ tokens, ...this.#dataPlaneFields }, RESOLVE_TIMEOUT_MS);
      return answers ?? [];
    } catch (error) {
      // A control plane of the previous release resolves single tokens only.
      if (!(error instanceof LinkError) || error.code !== grpcStatus.UNIMPLEMENTED) throw error;
      const one = (token: object) =>
        this.#client.resolveToken({ ...token, ...this.#dataPlaneFields }, RESOLVE_TIMEOUT_MS);
      return Promise.all(tokens.map(one));
    }
  }

  #connect(): void {
    this.#reconnectTimer = null;
    this.#catchUpRevision = null;
    this.#silenceTimeoutMs = HELLO_TIMEOUT_MS;
    const lastRevision = this.#cache!.seenRevision;
    const request = {
      ...this.#identity,
      counterLayout: COUNTER_LAYOUT,
      lastRevision,
      lastRevisionMark: this.#seenRevisionMark,
    };
    const call = this.#client.watch(request, {
      onEvent: (event) => this.#onEvent(event),
      onEnd: (error) => this.#onEnd(error),
    });
    this.#watch = call;
    this.#armSilenceTimer();
  }

  #armSilenceTimer(): void {
    if (this.#silenceTimer !== null) clearTimeout(this.#silenceTimer);
    this.#silenceTimer = setTimeout(() => {
      const call = this.#watch!;
      call.cancel();
      this.#client.preferOtherThan(call.address);
      this.#onEnd(
        new LinkError(grpcStatus.DEADLINE_EXCEEDED, `no event from the control plane for ${this.#silenceTimeoutMs} ms`),
      );
    }, this.#silenceTimeoutMs);
  }

  #onEvent(event: IWatchEvent): void {
    this.#lastEventMs = performance.now();
    this.#compareClocks(event.hello?.databaseTimeMs ?? event.heartbeat?.databaseTimeMs ?? 0);
    try {
      if (event.hello) this.#onHello(event.hello, event);
      else if (event.invalidation) this.#onInvalidation(event);
      else if (event.circuit) this.#listener.onCircuit(event.circuit);
      else if (event.prices) this.#listener.onPrices(event.prices);
      else if (event.heartbeat) this.#onHeartbeat(event.heartbeat);
    } catch (error) {
      // An event that cannot be decoded may have been an invalidation, so no cached entry can be trusted.
      this.#watch!.cancel();
      this.#cache!.reset(0);
      this.#seenRevisionMark = '';
      this.#onEnd(new LinkError(grpcStatus.INTERNAL, `cannot decode the event: ${(error as Error).message}`));
      return;
    }
    if (this.#catchUpRevision !== null) {
      this.#silenceTimer!.refresh();
      this.#confirmCache();
    }
  }

  #onHeartbeat({ counterLayout, retiring }: IHeartbeat): void {
    this.#listener.onCounterLayout(decodeLayoutStage(counterLayout));
    this.#listener.onRetiring((retiring ?? []).map(decodeFormer));
  }

  #compareClocks(databaseTimeMs: number): void {
    if (databaseTimeMs === 0) return;
    const wasOff = isClockOff(this.#clockOffsetMs ?? 0);
    this.#clockOffsetMs = Date.now() - databaseTimeMs;
    if (isClockOff(this.#clockOffsetMs) === wasOff) return;
    const offsetSeconds = Math.round(this.#clockOffsetMs / 1_000);
    if (wasOff) this.#log.info({ offsetSeconds }, 'the clock is in step with the database again');
    else this.#log.error({ offsetSeconds }, 'the clock differs from the database’s: this data plane is not ready');
  }

  #onHello(hello: IHello, { revision: sent, revisionMark }: IWatchEvent): void {
    const cache = this.#cache!;
    const revision = sent ?? 0;
    this.#failures = 0;
    this.#silenceTimeoutMs = Math.max(1_000, (hello.heartbeatMs ?? 0) * HEARTBEATS_MISSED);
    this.#armSilenceTimer();
    // Without a seen revision nothing can be replayed, so everything resolved before the first Hello is dropped.
    const isReset = (hello.reset ?? false) || cache.seenRevision === 0;
    if (isReset) {
      cache.reset(revision);
      this.#seenRevisionMark = revisionMark ?? '';
    }
    this.#catchUpRevision = revision;
    this.#builtInProviders = new Set(hello.builtInProviders ?? []);
    this.#listener.onCircuits(hello.circuits ?? []);
    this.#listener.onPrices(hello.prices ?? {});
    this.#listener.onCounterLayout(decodeLayoutStage(hello.counterLayout));
    this.#isReady = true;
    if (isReset) this.#listener.onReset();
  }

  #onInvalidation(event: IWatchEvent): void {
    const { kind, id, endsSessions, compromised } = event.invalidation!;
    const known = INVALIDATION_KINDS[kind ?? 0] ?? null;
    if (known === null) throw new Error(`unknown kind of invalidation ${kind}`);
    const invalidation: Invalidation = {
      revision: event.revision ?? 0,
      kind: known,
      id: id ?? '',
      endsSessions: endsSessions ?? false,
      ...(compromised ? { compromised: decodeFormer(compromised) } : {}),
    };
    if (invalidation.revision >= this.#cache!.seenRevision) this.#seenRevisionMark = event.revisionMark ?? '';
    const contexts = this.#cache!.invalidate(invalidation);
    if (invalidation.endsSessions) this.#listener.onSessionsEnd(invalidation, contexts);
  }

  /** Every event confirms the cache once all missed invalidations were replayed. */
  #confirmCache(): void {
    if (this.#cache!.seenRevision < this.#catchUpRevision!) return;
    this.#cache!.onLinkUp();
    if (this.#isUp) return;
    this.#isUp = true;
    this.#logged.clear();
    this.#log.info({ address: this.#watch?.address }, 'connected to the control plane');
  }

  #onEnd(error: LinkError): void {
    this.#watch = null;
    if (this.#silenceTimer !== null) clearTimeout(this.#silenceTimer);
    this.#silenceTimer = null;
    this.#markDown();
    if (this.#stopped) return;
    if (error.code === grpcStatus.FAILED_PRECONDITION) {
      this.#stopped = true;
      this.#listener.onFatal(error.details);
      return;
    }
    this.#logOnce('control plane unreachable', error);
    const capMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** Math.min(this.#failures++, 10));
    this.#reconnectTimer = setTimeout(() => this.#connect(), RECONNECT_MS_MIN + this.#random() * capMs);
  }

  #markDown(): void {
    this.#isUp = false;
    this.#catchUpRevision = null;
    this.#cache?.onLinkDown();
  }

  #logOnce(problem: string, error: unknown): void {
    const text = maskSecrets(error instanceof Error ? error.message : String(error));
    // The text of a missed deadline lists how long each step took, so its words and numbers differ each time.
    const isTimeout = error instanceof LinkError && error.code === grpcStatus.DEADLINE_EXCEEDED;
    const kind = `${problem}: ${isTimeout ? error.code : text.replace(/\d+/g, '')}`;
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    const isUnauthenticated = error instanceof LinkError && error.code === grpcStatus.UNAUTHENTICATED;
    this.#log.warn(
      isUnauthenticated
        ? { hint: 'INTERNAL_TOKEN must be the same on both planes, or DATAPLANE_TOKEN that of a valid identity' }
        : {},
      `${problem}: ${text}`,
    );
  }
}

/** A control plane of the previous release sends no stage. */
function decodeLayoutStage(layout: ICounterLayout | null | undefined): LayoutStage {
  return layout?.stage === WireLayoutStage.NEW ? { name: 'new', sinceMs: layout.sinceMs ?? 0 } : { name: 'both' };
}
