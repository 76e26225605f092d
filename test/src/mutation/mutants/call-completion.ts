import type { Mutant } from '../mutant.js';

/** Places, holds, probes and access of calls under way, and what is booked when they end. */
export const CALL_COMPLETION: readonly Mutant[] = [
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: 'held < this.#perOrgMax && held',
    put: 'held',
    bug: 'an organization may have more than MAX_INFLIGHT_PER_ORG',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts', 'dataplane/src/call/stage-order.test.ts'],
  },
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: 'held < FREE_RATIO * (this.#inflightMax - taken)',
    put: 'held <= FREE_RATIO * (this.#inflightMax - taken)',
    bug: 'one organization leaves nothing to others',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: `    x.slot = null;
`,
    put: '',
    bug: 'a place is given back twice',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: `    if (--share.inflight === 0) this.#inflightByOrg.delete(share.orgId);`,
    put: '    --share.inflight;',
    bug: 'organizations that are gone fill the memory',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (!x.keepsSlot) this.#orgLimiter.release(x);
`,
    put: '',
    bug: 'a call that has ended keeps its place',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (this.size + this.#openWebSockets >= this.#deps.inflightMax) return`,
    put: `    if (this.size + this.#openWebSockets > this.#deps.inflightMax) return`,
    bug: 'one call more than MAX_INFLIGHT',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (this.size + this.#openWebSockets >= this.#deps.inflightMax) return`,
    put: '    if (this.size >= this.#deps.inflightMax) return',
    bug: 'open WebSockets take no place',
    tests: ['dataplane/src/websocket'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    return this.#deps.spool.isFull ? REJECTIONS.spoolFull : null;`,
    put: '    return null;',
    bug: 'calls pass that nobody can book',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    this.#deps.metrics.onRejected(x, rejection);
    this.#deps.probeLeases.release(x);
`,
    put: `    this.#deps.metrics.onRejected(x, rejection);
`,
    bug: 'a probe place of a refused call is lost',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      this.#deps.probeLeases.release(x);
      if (x.reserved`,
    put: '      if (x.reserved',
    bug: 'a probe place is lost when the agent left before its call went out',
    tests: ['dataplane/src/call/delayed-body.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      if (x.reservedNanos > 0 && isRouted(x)) this.#deps.releaseReservation(x);
    } else`,
    put: '    } else',
    bug: 'a hold is kept when the agent left before its call went out',
    equivalent: 'a call goes out in the turn of its admission: there is no hold without a call',
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (x.reservedNanos > 0 && isRouted(x)) this.#deps.releaseReservation(x);
    const { context } = x;`,
    put: '    const { context } = x;',
    bug: 'a call that is refused after its admission keeps its hold',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (this.#isDrained) return REJECTIONS.shuttingDown;
`,
    put: '',
    bug: 'what comes after the drain is neither counted nor booked',
    tests: ['dataplane/src/call/proxy-lifetime.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      if (rejection.status < 500 && this.#deps.isOverRejectionLimit(x)) this.#startTarpit(x);`,
    put: `      void this.#startTarpit;`,
    bug: `a flood's refusals cost as much as answers`,
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    x.revoked = true;
    if (!x.forwarded`,
    put: '    if (!x.forwarded',
    bug: 'a revocation between admission and dispatch is missed',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    x.settled = true;
`,
    put: '',
    bug: 'a call is booked twice',
    tests: ['dataplane/src/call/settle.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `recordAfterDecode(x, done))) deps.pendingDecodes.onStarted();`,
    put: `recordAfterDecode(x, done))) return;`,
    bug: 'a drain ends before a compressed answer is booked',
    tests: ['dataplane/src/call/settle-on-drain.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: '    month: x.admission!.month,',
    put: '    month: x.admission!.month + 1,',
    bug: 'what a call cost counts in another month than its admission',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts', 'dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: ` && x.upstreamStatus === 0 && x.requestFullySent;`,
    put: ` && x.upstreamStatus === 0;`,
    bug: 'an agent that leaves pays for a request that was not sent completely',
    tests: ['dataplane/src/call/client-abort.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: 'const price = (successful || isUnanswered) && reading !== null',
    put: 'const price = reading !== null',
    bug: 'an answer that is an error costs',
    tests: ['dataplane/src/call/proxy-responses.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    const { reservedNanos: holdNanos } = x;
    x.reservedNanos = 0;
    settleCounters(deps`,
    put: `    const reservedNanos = 0;
    x.reservedNanos = 0;
    settleCounters(deps`,
    bug: 'the hold of a call that has ended is kept',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: 'if (costNanos === 0 && tokens === 0 && holdNanos === 0) return;',
    put: 'if (costNanos === 0 && tokens === 0) return;',
    bug: 'the hold of a call that cost nothing is kept',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `sumInputTokens(reading) + reading.tokensOut;`,
    put: `sumInputTokens(reading);`,
    bug: 'tokens of the answer do not count against the minute',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `  const { reservedNanos: holdNanos } = x;
  x.reservedNanos = 0;
  settleCounters(counters, x, 0, null, holdNanos);`,
    put: `  const { reservedNanos } = x;
  settleCounters(counters, x, 0, null, reservedNanos);`,
    bug: 'a hold is given back twice',
    tests: ['dataplane/src/call/settle.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    if (x.routed.context.agentLimits.hardBudget && price.costNanos > x.reservedNanos) {`,
    put: `    if (x.routed.context.agentLimits.hardBudget && price.costNanos < x.reservedNanos) {`,
    bug: 'spend above the hold is not seen',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `      if (granted) releaseGrantedNanos(this.#counters, x, nanos);
`,
    put: '',
    bug: 'what was granted to a call that had ended is kept',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    x.reservedNanos += nanos;
`,
    put: '',
    bug: 'what a hold grew by is never given back',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    if (!granted) {
`,
    put: `    if (!granted && nanos < 0) {
`,
    bug: 'a stream goes on beyond its budget',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    if (this.#isCut) return false;
`,
    put: '',
    bug: 'bytes pass behind the end of a cut stream',
    equivalent: 'cutting a stream off ends its upstream call, which brings nothing more',
  },
  {
    file: 'dataplane/src/reservation/reservation-meter.ts',
    find: 'const USED_RATIO = 0.75;',
    put: 'const USED_RATIO = 1;',
    bug: 'a guess at the maximum is used up to its end',
    tests: [
      'dataplane/src/reservation/compute-reservation.test.ts',
      'dataplane/src/reservation/reserved-stream.test.ts',
    ],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: '  return upstream?.accountId === accountId;',
    bug: 'a stream goes on with credentials that were refused',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: `  return upstream?.accountStatus === 'active';`,
    bug: 'a stream goes on with an account that was replaced',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `context === null || context.agentStatus !== 'active') return false;`,
    put: 'context === null) return false;',
    bug: 'a stream of a paused agent goes on after a review',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: 'nowMs >= endMs) open.revoke',
    put: 'nowMs > endMs) open.revoke',
    bug: 'a stream outlives its key',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/probe-leases.ts',
    find: `    if (x.probeLease === '' || x.forwarded || !isRouted(x)) return;`,
    put: `    if (x.probeLease === '' || !isRouted(x)) return;`,
    bug: 'a probe that went upstream is given back twice',
    equivalent: 'it is asked only of calls that have not gone out',
  },
];
