/**
 * What follows when a provider answers 401 to a minted credential: the control plane is asked for another one, and a
 * request whose body is still at hand is sent once more with it. Agents can provoke 401s, so a credential is reported once
 * for each context, and the control plane exchanges once a minute at most.
 */
import { noop } from '@acg/base/noop';
import type { Upstream } from '../../context/agent-context.js';
import type { Lookup } from '../../context/context-cache.js';
import type { UpstreamRequest, UpstreamResponseHandler } from '../../http1/upstream-request-interface.js';
import type { Exchange, RoutedExchange } from '../exchange.js';
import type { FailureHandler } from '../failure-handler.js';
import type { Resend } from '../resend.js';
import type { ContextLookup } from './authenticate.js';
import { recheckAccess } from './recheck-access.js';
import { hasExpired } from './wait-for-credential.js';

const UNAUTHORIZED = 401;

export class RejectedCredentials {
  readonly #contexts: Pick<ContextLookup, 'get' | 'resolveMinted'>;
  readonly #resend: Resend;
  readonly #failures: Pick<FailureHandler, 'settleAndRespondToFailedRetry'>;
  /** Accounts, as contexts hold them, whose credential was reported. */
  readonly #reported = new WeakSet<Upstream>();
  /** Those of them for which the control plane has not answered yet. */
  readonly #pending = new WeakSet<Upstream>();

  constructor(
    contexts: Pick<ContextLookup, 'get' | 'resolveMinted'>,
    resend: Resend,
    failures: Pick<FailureHandler, 'settleAndRespondToFailedRetry'>,
  ) {
    this.#contexts = contexts;
    this.#resend = resend;
    this.#failures = failures;
  }

  /** The provider has answered 401, which passes. */
  report({ access, routed: { upstream }, upstreamCall }: RoutedExchange): void {
    if (upstream.credentialGeneration === 0 || upstreamCall.hasReplacedCredential || this.#reported.has(upstream))
      return;
    this.#ask(access, upstream, noop);
  }

  /** Returns the handler of a request: `handler` itself, where a 401 may not lead to a second send. */
  guard(
    exchange: RoutedExchange,
    { body }: UpstreamRequest,
    handler: UpstreamResponseHandler,
  ): UpstreamResponseHandler {
    const { routed, upstreamCall } = exchange;
    const isAtHand = body === null || Buffer.isBuffer(body);
    if (routed.upstream.credentialGeneration === 0 || !isAtHand || upstreamCall.hasReplacedCredential) return handler;
    return new HeldUnauthorized(exchange, body, handler, this);
  }

  /** Calls `done`, in a later turn, with whether the exchange has another credential now. */
  replace(exchange: RoutedExchange, done: (isReplaced: boolean) => void): void {
    const { access, routed: former } = exchange;
    exchange.upstreamCall.hasReplacedCredential = true;
    const decide = (lookup: Lookup): void => done(!exchange.hasEnded && useOther(exchange, former, lookup));
    const cached = this.#contexts.get(access.tokenHash, access.agentRef);
    if (cached !== null && holdsOther(cached, former.upstream)) setImmediate(decide, cached);
    else if (this.#reported.has(former.upstream) && !this.#pending.has(former.upstream)) setImmediate(done, false);
    else this.#ask(access, former.upstream, decide);
  }

  /** The request goes out once more. Its connection was given back. */
  sendAgain(exchange: RoutedExchange, body: Buffer | null): void {
    exchange.upstreamCall.repeatable = { body };
    this.#resend(exchange, (rejection) => this.#failures.settleAndRespondToFailedRetry(exchange, rejection));
  }

  #ask({ tokenHash, agentRef }: Exchange['access'], upstream: Upstream, done: (lookup: Lookup) => void): void {
    this.#reported.add(upstream);
    this.#pending.add(upstream);
    const { accountId, credentialGeneration } = upstream;
    this.#contexts.resolveMinted(tokenHash, agentRef, accountId, credentialGeneration, (lookup) => {
      this.#pending.delete(upstream);
      done(lookup);
    });
  }
}

const holdsOther = ({ context }: Lookup, { providerSlug, accountId, credentialGeneration }: Upstream): boolean => {
  const now = context?.upstreams.get(providerSlug);
  return now?.accountId === accountId && now.credentialGeneration !== credentialGeneration;
};

/** Routes the call by a newer context. Where that brings no other credential, the former route stays. */
function useOther(exchange: RoutedExchange, former: RoutedExchange['routed'], lookup: Lookup): boolean {
  const rejection = recheckAccess(exchange, lookup);
  const { upstream } = exchange.routed;
  const isOther = upstream.credentialGeneration !== former.upstream.credentialGeneration && !hasExpired(upstream);
  if (rejection === null && isOther && !exchange.access.revoked) return true;
  // The response may echo the former credential, so that one is masked.
  (exchange as Exchange).routed = former;
  return false;
}

/**
 * Sits between the upstream and the rest of a call. Holds a 401, with one read of its body, until it is known whether the
 * request goes out once more; everything else passes.
 */
class HeldUnauthorized implements UpstreamResponseHandler {
  readonly #exchange: RoutedExchange;
  readonly #handler: UpstreamResponseHandler;
  readonly #owner: RejectedCredentials;
  #body: Buffer | null;
  #abort: ((error?: Error) => void) | null = null;
  /** The head of the held 401; null: nothing is held. */
  #head: { readonly rawHeaders: string[]; readonly resume: () => void } | null = null;
  #chunks: Buffer[] = [];
  /** How the held response ended; undefined: not yet. */
  #end: Error | null | undefined;
  /** The request goes out once more: what is left of this response is dropped. */
  #isReplaced = false;

  constructor(
    exchange: RoutedExchange,
    body: Buffer | null,
    handler: UpstreamResponseHandler,
    owner: RejectedCredentials,
  ) {
    this.#exchange = exchange;
    this.#body = body;
    this.#handler = handler;
    this.#owner = owner;
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort;
    this.#handler.onConnect(abort);
  }

  onHeaders(status: number, rawHeaders: string[], resume: () => void): void {
    if (status === UNAUTHORIZED && !this.#exchange.hasEnded) {
      this.#head = { rawHeaders, resume };
      this.#owner.replace(this.#exchange, (isReplaced) => {
        if (isReplaced) this.#sendAgain();
        else this.#pass();
      });
      return;
    }
    if (status >= 200) this.#body = null; // frees the memory
    this.#handler.onHeaders(status, rawHeaders, resume);
  }

  onData(chunk: Buffer): boolean {
    if (this.#head === null) return this.#handler.onData(chunk);
    if (!this.#isReplaced) this.#chunks.push(chunk);
    return false;
  }

  onComplete(): void {
    this.#onEnd(null);
  }

  onError(error: Error): void {
    this.#onEnd(error);
  }

  #onEnd(error: Error | null): void {
    if (this.#head !== null) this.#end ??= error;
    else if (error === null) this.#handler.onComplete();
    else this.#handler.onError(error);
  }

  #sendAgain(): void {
    this.#isReplaced = true;
    this.#chunks = [];
    const { connection } = this.#exchange.upstreamCall;
    if (this.#end === undefined) this.#abort!();
    connection!.release();
    this.#owner.sendAgain(this.#exchange, this.#body);
  }

  #pass(): void {
    const { rawHeaders, resume } = this.#head!;
    this.#head = null;
    this.#body = null;
    if (!this.#exchange.hasEnded) {
      this.#handler.onHeaders(UNAUTHORIZED, rawHeaders, resume);
      let goOn = true;
      for (const chunk of this.#chunks) goOn = this.#handler.onData(chunk);
      if (goOn && this.#end === undefined) resume();
    }
    this.#chunks = [];
    if (this.#end !== undefined) this.#onEnd(this.#end);
  }
}
