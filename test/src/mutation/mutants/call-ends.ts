import type { Mutant } from '../mutant.js';

/** Places, holds, probes and access of calls under way, and what is booked when they end. */
export const CALL_ENDS: readonly Mutant[] = [
  {
    file: 'dataplane/src/call/org-shares.ts',
    find: 'held < this.#perOrgMax && held',
    put: 'held',
    bug: 'an organization may have more than MAX_INFLIGHT_PER_ORG',
    tests: ['dataplane/src/call/org-shares.test.ts', 'dataplane/src/call/check-order.test.ts'],
  },
  {
    file: 'dataplane/src/call/org-shares.ts',
    find: 'held < FREE_RATIO * (this.#inflightMax - taken)',
    put: 'held <= FREE_RATIO * (this.#inflightMax - taken)',
    bug: 'one organization leaves nothing to others',
    tests: ['dataplane/src/call/org-shares.test.ts'],
  },
  {
    file: 'dataplane/src/call/org-shares.ts',
    find: `    x.share = null;
`,
    put: '',
    bug: 'a place is given back twice',
    tests: ['dataplane/src/call/org-shares.test.ts'],
  },
  {
    file: 'dataplane/src/call/org-shares.ts',
    find: '    if (--share.inflight === 0) this.#orgs.delete(share.orgId);',
    put: '    --share.inflight;',
    bug: 'organizations that are gone fill the memory',
    tests: ['dataplane/src/call/org-shares.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `    if (!x.keepsShare) this.#shares.give(x);
`,
    put: '',
    bug: 'a call that has ended keeps its place',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: '    if (this.size + this.#webSockets >= this.#deps.inflightMax) return',
    put: '    if (this.size + this.#webSockets > this.#deps.inflightMax) return',
    bug: 'one call more than MAX_INFLIGHT',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: '    if (this.size + this.#webSockets >= this.#deps.inflightMax) return',
    put: '    if (this.size >= this.#deps.inflightMax) return',
    bug: 'open WebSockets take no place',
    tests: ['dataplane/src/websocket'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: '    return this.#deps.spool.full ? REJECTIONS.spoolFull : null;',
    put: '    return null;',
    bug: 'calls pass that nobody can book',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `    this.#deps.metrics.onRejected(x, rejection);
    this.#deps.probes.giveBack(x);
`,
    put: `    this.#deps.metrics.onRejected(x, rejection);
`,
    bug: 'a probe place of a refused call is lost',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `      this.#deps.probes.giveBack(x);
      if (x.hold`,
    put: '      if (x.hold',
    bug: 'a probe place is lost when the agent left before its call went out',
    tests: ['dataplane/src/call/withheld.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `      if (x.holdNanos > 0 && isRouted(x)) this.#deps.releaseHold(x);
    } else`,
    put: '    } else',
    bug: 'a hold is kept when the agent left before its call went out',
    equivalent: 'a call goes out in the turn of its admission: there is no hold without a call',
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `    if (x.holdNanos > 0 && isRouted(x)) this.#deps.releaseHold(x);
    const { context } = x;`,
    put: '    const { context } = x;',
    bug: 'a call that is refused after its admission keeps its hold',
    tests: ['dataplane/src/call/hold-release.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: `    if (this.#drained) return REJECTIONS.stopping;
`,
    put: '',
    bug: 'what comes after the drain is neither counted nor booked',
    tests: ['dataplane/src/call/proxy-lifetime.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
    find: '      if (rejection.status < 500 && this.#deps.isFlood(x)) this.#answerLate(x);',
    put: '      void this.#answerLate;',
    bug: `a flood's refusals cost as much as answers`,
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/live-calls.ts',
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
    find: 'bookLate(x, done))) deps.catchingUp.began();',
    put: 'bookLate(x, done))) return;',
    bug: 'a drain ends before a compressed answer is booked',
    tests: ['dataplane/src/call/drain-booking.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: '    month: x.admission!.month,',
    put: '    month: x.admission!.month + 1,',
    bug: 'what a call cost counts in another month than its admission',
    tests: ['dataplane/src/call/budget-cut.test.ts', 'dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: ` && x.upstreamStatus === 0 && x.sentWhole;`,
    put: ` && x.upstreamStatus === 0;`,
    bug: 'an agent that leaves pays for a request that was not sent completely',
    tests: ['dataplane/src/call/left-early.test.ts'],
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
    find: `    const { holdNanos } = x;
    x.holdNanos = 0;
    settleCounters(deps`,
    put: `    const holdNanos = 0;
    x.holdNanos = 0;
    settleCounters(deps`,
    bug: 'the hold of a call that has ended is kept',
    tests: ['dataplane/src/call/hold-release.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: 'if (costNanos === 0 && tokens === 0 && holdNanos === 0) return;',
    put: 'if (costNanos === 0 && tokens === 0) return;',
    bug: 'the hold of a call that cost nothing is kept',
    tests: ['dataplane/src/call/hold-release.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: 'tokensIn(reading) + reading.tokensOut;',
    put: 'tokensIn(reading);',
    bug: 'tokens of the answer do not count against the minute',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `  const { holdNanos } = x;
  x.holdNanos = 0;
  settleCounters(counters, x, 0, null, holdNanos);`,
    put: `  const { holdNanos } = x;
  settleCounters(counters, x, 0, null, holdNanos);`,
    bug: 'a hold is given back twice',
    tests: ['dataplane/src/call/settle.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: '    if (x.routed.context.terms.hardBudget && price.costNanos > x.holdNanos) {',
    put: '    if (x.routed.context.terms.hardBudget && price.costNanos < x.holdNanos) {',
    bug: 'spend above the hold is not seen',
    tests: ['dataplane/src/call/hold-release.test.ts'],
  },
  {
    file: 'dataplane/src/call/held-stream.ts',
    find: `      if (granted) releaseGrowth(this.#counters, x, nanos);
`,
    put: '',
    bug: 'what was granted to a call that had ended is kept',
    tests: ['dataplane/src/call/budget-cut.test.ts'],
  },
  {
    file: 'dataplane/src/call/held-stream.ts',
    find: `    x.holdNanos += nanos;
`,
    put: '',
    bug: 'what a hold grew by is never given back',
    tests: ['dataplane/src/call/budget-cut.test.ts'],
  },
  {
    file: 'dataplane/src/call/held-stream.ts',
    find: `    if (!granted) {
`,
    put: `    if (!granted && nanos < 0) {
`,
    bug: 'a stream goes on beyond its budget',
    tests: ['dataplane/src/call/budget-cut.test.ts'],
  },
  {
    file: 'dataplane/src/call/held-stream.ts',
    find: `    if (this.#over) return false;
`,
    put: '',
    bug: 'bytes pass behind the end of a cut stream',
    equivalent: 'cutting a stream off ends its upstream call, which brings nothing more',
  },
  {
    file: 'dataplane/src/call/hold-watch.ts',
    find: 'const USED_RATIO = 0.75;',
    put: 'const USED_RATIO = 1;',
    bug: 'a guess at the maximum is used up to its end',
    tests: ['dataplane/src/call/hold-bound.test.ts', 'dataplane/src/call/budget-cut.test.ts'],
  },
  {
    file: 'dataplane/src/call/open-access.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: '  return upstream?.accountId === accountId;',
    bug: 'a stream goes on with credentials that were refused',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/open-access.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: `  return upstream?.accountStatus === 'active';`,
    bug: 'a stream goes on with an account that was replaced',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/open-access.ts',
    find: `context === null || context.agentStatus !== 'active') return false;`,
    put: 'context === null) return false;',
    bug: 'a stream of a paused agent goes on after a review',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/open-access.ts',
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
