/**
 * The control plane as the data plane sees it: `ResolveTokens` for misses, and one `Watch` that is supervised.
 *
 *   connecting ──Hello──▶ catching up ──seen revision = Hello's──▶ up ──silence or end──▶ down ──jitter──▶ connecting
 *
 * The cache is trusted again (`linkUp`) only when all invalidations missed in between were replayed, or after a reset.
 * Every event counts as a heartbeat; silence of two and a half heartbeats ends the call, and the next one goes to
 * another instance. FAILED_PRECONDITION means that this data plane must not run at all: `onFatal`.
 */
import { type Logger, maskSecrets } from '@acg/base/log';
import { type GatewayClient, LinkError, linkStatus, type WatchCall } from '@acg/proto/client';
import {
  type ICircuitState,
  type IHello,
  type IPriceBook,
  type IResolveTokenResponse,
  type IWatchEvent,
  Outcome,
} from '@acg/proto/messages';
import type { ContextCache, ContextResolver, Resolution } from './context-cache.js';
import { decodeContext } from './decode.js';
import type { Invalidation, InvalidationKind } from './invalidation.js';
import { ResolveBatch, type TokenQuery } from './resolve-batch.js';

interface DataPlaneIdentity {
  /** Kept in the data directory; the same id replaces its old registration. */
  readonly dataPlaneId: string;
  readonly counters: 'memory' | 'redis';
  readonly version: string;
}

/** Who else listens to `Watch`. Called from the stream, in the order of the events. */
export interface LinkListener {
  /** All circuits that are not CLOSED; every other one is. On each (re)connection. */
  onCircuits(circuits: readonly ICircuitState[]): void;
  onCircuit(circuit: ICircuitState): void;
  /** The operator's prices, in place of all earlier ones: on each (re)connection and when they change. */
  onPrices(prices: IPriceBook): void;
  /** The cache was dropped: nobody can say what was revoked meanwhile. */
  onReset(): void;
  /** `endsSessions` ones only: open streams and WebSockets that it touches must end. */
  onSessionsEnd(invalidation: Invalidation): void;
  /** The process must stop; `message` says why and what to set. */
  onFatal(message: string): void;
}

const RESOLVE_TIMEOUT_MS = 5_000;
const HELLO_TIMEOUT_MS = 5_000;
const RECONNECT_MS_MIN = 50;
const RECONNECT_MS_MAX = 2_000;
const HEARTBEATS_MISSED = 2.5;
const RESOLVE_FAILED = 'resolve failed';

const KINDS: readonly (InvalidationKind | null)[] = [null, 'key', 'agent', 'provider', 'org', 'project', 'account'];
const REFUSALS = {
  [Outcome.UNKNOWN_TOKEN]: 'unknown_token',
  [Outcome.AGENT_REQUIRED]: 'agent_required',
  [Outcome.AGENT_AMBIGUOUS]: 'agent_ambiguous',
  [Outcome.AGENT_OUT_OF_SCOPE]: 'agent_out_of_scope',
} as const;

export class ContextSource implements ContextResolver {
  readonly #client: GatewayClient;
  readonly #identity: DataPlaneIdentity;
  readonly #listener: LinkListener;
  readonly #log: Logger;
  readonly #random: () => number;
  readonly #batch = new ResolveBatch((queries) => this.#ask(queries));
  #cache: ContextCache | null = null;
  #watch: WatchCall | null = null;
  /** Runs out when the link is silent. */
  #silence: NodeJS.Timeout | null = null;
  #silenceMs = HELLO_TIMEOUT_MS;
  #reconnect: NodeJS.Timeout | null = null;
  #failures = 0;
  /** Random mark of the cache's seen revision; '' = not known. */
  #seenMark = '';
  /** Hello's revision while older invalidations are still being replayed; null before Hello. */
  #catchUpTo: number | null = null;
  #up = false;
  #ready = false;
  #stopped = false;
  /** Problems that were logged and are not over, so that an outage is a line of each kind and not a flood. */
  readonly #logged = new Set<string>();

  constructor(
    client: GatewayClient,
    identity: DataPlaneIdentity,
    listener: LinkListener,
    log: Logger,
    random: () => number = Math.random,
  ) {
    this.#client = client;
    this.#identity = identity;
    this.#listener = listener;
    this.#log = log;
    this.#random = random;
  }

  /** True from the first Hello on: contexts are resolvable. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Whether invalidations arrive right now. */
  get up(): boolean {
    return this.#up;
  }

  start(cache: ContextCache): void {
    this.#cache = cache;
    this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#silence !== null) clearTimeout(this.#silence);
    if (this.#reconnect !== null) clearTimeout(this.#reconnect);
    this.#watch?.cancel();
    this.#watch = null;
    this.#down();
  }

  /** The control plane's database went back: what it said of tokens and sessions may not be true any more. */
  forget(): void {
    this.#cache!.reset(this.#cache!.seenRevision);
    this.#listener.onReset();
  }

  /** One call for all of a turn of the event loop. */
  resolve(tokenHash: string, agentRef: string, lane: object | null): Promise<Resolution> {
    return this.#batch.resolve({ tokenHash, agentRef }, lane);
  }

  async #ask(queries: readonly TokenQuery[]): Promise<readonly (Resolution | Error)[]> {
    try {
      const answers = await this.#answersTo(queries);
      this.#resolved();
      return answers.map((answer) => {
        try {
          return resolutionOf(answer);
        } catch (error) {
          this.#problem('unreadable answer for a token', error);
          return error as Error;
        }
      });
    } catch (error) {
      this.#problem(RESOLVE_FAILED, error);
      throw error;
    }
  }

  /** What kept all tokens from being resolved is over; one token that is answered wrongly may still be asked for. */
  #resolved(): void {
    for (const kind of this.#logged) if (kind.startsWith(RESOLVE_FAILED)) this.#logged.delete(kind);
  }

  async #answersTo(queries: readonly TokenQuery[]): Promise<readonly IResolveTokenResponse[]> {
    const { dataPlaneId } = this.#identity;
    const tokens = queries.map(({ tokenHash, agentRef }) => ({ tokenHash: Buffer.from(tokenHash, 'hex'), agentRef }));
    try {
      const { answers } = await this.#client.resolveTokens({ tokens, dataPlaneId }, RESOLVE_TIMEOUT_MS);
      return answers ?? [];
    } catch (error) {
      // A control plane of the release before knows single tokens only.
      if (!(error instanceof LinkError) || error.code !== linkStatus.UNIMPLEMENTED) throw error;
      const one = (token: object) => this.#client.resolveToken({ ...token, dataPlaneId }, RESOLVE_TIMEOUT_MS);
      return Promise.all(tokens.map(one));
    }
  }

  #connect(): void {
    this.#reconnect = null;
    this.#catchUpTo = null;
    this.#silenceMs = HELLO_TIMEOUT_MS;
    const lastRevision = this.#cache!.seenRevision;
    const request = { ...this.#identity, lastRevision, lastRevisionMark: this.#seenMark };
    const call = this.#client.watch(request, {
      onEvent: (event) => this.#onEvent(event),
      onEnd: (error) => this.#onEnd(error),
    });
    this.#watch = call;
    this.#armSilence();
  }

  #armSilence(): void {
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      const call = this.#watch!;
      call.cancel();
      this.#client.avoid(call.address);
      this.#onEnd(
        new LinkError(linkStatus.DEADLINE_EXCEEDED, `no word from the control plane for ${this.#silenceMs} ms`),
      );
    }, this.#silenceMs);
  }

  #onEvent(event: IWatchEvent): void {
    try {
      if (event.hello) this.#onHello(event.hello, event);
      else if (event.invalidation) this.#onInvalidation(event);
      else if (event.circuit) this.#listener.onCircuit(event.circuit);
      else if (event.prices) this.#listener.onPrices(event.prices);
    } catch (error) {
      // A word that was not understood may have been an invalidation: nothing cached can be trusted.
      this.#watch!.cancel();
      this.#cache!.reset(0);
      this.#seenMark = '';
      this.#onEnd(new LinkError(linkStatus.INTERNAL, `event not understood: ${(error as Error).message}`));
      return;
    }
    if (this.#catchUpTo !== null) {
      this.#silence!.refresh();
      this.#confirm();
    }
  }

  #onHello(hello: IHello, { revision: sent, revisionMark }: IWatchEvent): void {
    const cache = this.#cache!;
    const revision = sent ?? 0;
    this.#failures = 0;
    this.#silenceMs = Math.max(1_000, (hello.heartbeatMs ?? 0) * HEARTBEATS_MISSED);
    this.#armSilence();
    // Without a revision of our own nothing can be replayed to us: what was resolved before the first Hello goes.
    const isReset = (hello.reset ?? false) || cache.seenRevision === 0;
    if (isReset) {
      cache.reset(revision);
      this.#seenMark = revisionMark ?? '';
    }
    this.#catchUpTo = revision;
    this.#listener.onCircuits(hello.circuits ?? []);
    this.#listener.onPrices(hello.prices ?? {});
    this.#ready = true;
    if (isReset) this.#listener.onReset();
  }

  #onInvalidation(event: IWatchEvent): void {
    const { kind, id, endsSessions } = event.invalidation!;
    const known = KINDS[kind ?? 0] ?? null;
    if (known === null) throw new Error(`unknown kind of invalidation ${kind}`);
    const invalidation: Invalidation = {
      revision: event.revision ?? 0,
      kind: known,
      id: id ?? '',
      endsSessions: endsSessions ?? false,
    };
    if (invalidation.revision >= this.#cache!.seenRevision) this.#seenMark = event.revisionMark ?? '';
    this.#cache!.invalidate(invalidation);
    if (invalidation.endsSessions) this.#listener.onSessionsEnd(invalidation);
  }

  /** Every word confirms the cache, once all that was missed is replayed. */
  #confirm(): void {
    if (this.#cache!.seenRevision < this.#catchUpTo!) return;
    this.#cache!.linkUp();
    if (this.#up) return;
    this.#up = true;
    this.#logged.clear();
    this.#log.info({ address: this.#watch?.address }, 'connected to the control plane');
  }

  #onEnd(error: LinkError): void {
    this.#watch = null;
    if (this.#silence !== null) clearTimeout(this.#silence);
    this.#silence = null;
    this.#down();
    if (this.#stopped) return;
    if (error.code === linkStatus.FAILED_PRECONDITION) {
      this.#stopped = true;
      this.#listener.onFatal(error.details);
      return;
    }
    this.#problem('control plane unreachable', error);
    const capMs = Math.min(RECONNECT_MS_MAX, RECONNECT_MS_MIN * 2 ** Math.min(this.#failures++, 10));
    this.#reconnect = setTimeout(() => this.#connect(), RECONNECT_MS_MIN + this.#random() * capMs);
  }

  #down(): void {
    this.#up = false;
    this.#catchUpTo = null;
    this.#cache?.linkDown();
  }

  #problem(what: string, error: unknown): void {
    const text = maskSecrets(error instanceof Error ? error.message : String(error));
    // Of a missed deadline it tells how long each part took that took any time: other words and numbers each time.
    const missed = error instanceof LinkError && error.code === linkStatus.DEADLINE_EXCEEDED;
    const kind = `${what}: ${missed ? error.code : text.replace(/\d+/g, '')}`;
    if (this.#logged.has(kind)) return;
    this.#logged.add(kind);
    const refused = error instanceof LinkError && error.code === linkStatus.UNAUTHENTICATED;
    this.#log.warn(refused ? { hint: 'INTERNAL_TOKEN must be the same on both planes' } : {}, `${what}: ${text}`);
  }
}

/** Throws when the answer is none. */
function resolutionOf(answer: IResolveTokenResponse): Resolution {
  const revision = answer.revision ?? 0;
  const outcome = answer.outcome ?? Outcome.OUTCOME_UNSPECIFIED;
  if (outcome === Outcome.FOUND) return { context: decodeContext(answer.context ?? {}), refusal: null, revision };
  const refusal = REFUSALS[outcome as keyof typeof REFUSALS];
  if (refusal === undefined) throw new Error(`the control plane answered with outcome ${outcome}`);
  return { context: null, refusal, revision };
}
