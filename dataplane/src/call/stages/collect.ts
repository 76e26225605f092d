/**
 * Waits until the request's body is either here whole or known to be too long, which then streams from its first bytes
 * on. A body that must be read before the call is allowed is here whole afterwards, or refused.
 */

import type { Counters } from '../../counters/counters.js';
import type { CallMetering } from '../call-metering.js';
import type { EditedBodyBudget } from '../edited-body-budget.js';
import type { RoutedExchange } from '../exchange.js';
import { firstLook } from '../first-look.js';
import { type Advance, DONE, NEXT, type RoutedStage, WAIT } from '../pipeline.js';
import { REJECTIONS } from '../rejections.js';
import type { RequestBody } from '../request-body.js';

interface CollectDeps {
  readonly metering: Pick<CallMetering, 'bodyBytesWanted'>;
  readonly counters: Pick<Counters, 'standing'>;
  readonly budget: EditedBodyBudget;
  readonly bufferedBodyBytesMax: number;
  /** Of a body that must be read before the call is allowed. */
  readonly readBodyBytesMax: number;
  readonly advance: Advance;
}

export function createCollect(deps: CollectDeps): RoutedStage {
  const look = (x: RoutedExchange): void => lookFirst(x, deps.counters);
  return (x) => {
    const { body } = x;
    if (body === null) return NEXT;
    const says = x.request.contentLength;
    if (x.bodyReader !== null && says > deps.readBodyBytesMax) {
      x.reject(REJECTIONS.bodyTooLarge);
      return DONE;
    }
    if (!body.complete || x.bodyReader !== null) begin(x, body, says, deps);
    if (body.decided) return decide(x, body, deps) ? NEXT : DONE;
    x.waited = true;
    body.onChange = () => {
      body.onChange = null;
      if (!x.over && decide(x, body, deps)) deps.advance(x);
    };
    // Nearly every body comes in the same turn as its head, and needs no look of its own.
    setImmediate(look, x);
    return WAIT;
  };
}

function begin(x: RoutedExchange, body: RequestBody, contentLength: number, deps: CollectDeps): void {
  if (x.bodyReader !== null) {
    body.readWhole(deps.readBodyBytesMax, roomOf(x, deps), x.bodyReader);
    return;
  }
  const wanted = deps.metering.bodyBytesWanted(x);
  // A body that says it is longer than can be edited is not held back at all.
  if (wanted > deps.bufferedBodyBytesMax && contentLength <= wanted) body.collectWhole(wanted, roomOf(x, deps));
  else if (contentLength > deps.bufferedBodyBytesMax) body.expectLong();
}

const roomOf = (x: RoutedExchange, { budget }: CollectDeps) => budget.roomOf(x.routed.context.orgId);

/** False: refused. */
function decide(x: RoutedExchange, body: RequestBody, { readBodyBytesMax }: CollectDeps): boolean {
  if (x.bodyReader === null) return true;
  const tooLarge = body.bytes > readBodyBytesMax;
  if (body.complete && !tooLarge) return true;
  x.reject(tooLarge ? REJECTIONS.bodyTooLarge : REJECTIONS.noBodyRoom);
  return false;
}

/** The body is not here yet: what is over its limits already need not send it. */
function lookFirst(x: RoutedExchange, counters: Pick<Counters, 'standing'>): void {
  if (x.over || x.body!.decided) return;
  const { context, upstream } = x.routed;
  counters.standing({ terms: context.terms, providerSlugs: [upstream.providerSlug] }, (standing) => {
    if (standing === null || x.over || x.body!.decided) return;
    const rejection = firstLook(standing, context.terms.limits, Date.now());
    if (rejection !== null) x.reject(rejection);
  });
}
