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
    bug: 'one organization takes all slots',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: `    holder.slot = null;
`,
    put: '',
    bug: 'a slot is released twice',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/concurrency/org-concurrency-limiter.ts',
    find: `    if (--share.inflight === 0) this.#inflightByOrg.delete(share.orgId);`,
    put: '    --share.inflight;',
    bug: 'entries of deleted organizations fill the memory',
    tests: ['dataplane/src/concurrency/org-concurrency-limiter.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (!exchange.admission.keepsSlot) this.#orgLimiter.release(exchange.admission);
`,
    put: '',
    bug: 'an ended call keeps its slot',
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
    bug: 'open WebSockets take no slot',
    tests: ['dataplane/src/websocket'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    return this.#deps.spool.isFull ? REJECTIONS.spoolFull : null;`,
    put: '    return null;',
    bug: 'calls pass whose usage cannot be recorded',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    this.#deps.metrics.onRejected(exchange, rejection);
    this.#deps.probeLeases.release(exchange);
`,
    put: `    this.#deps.metrics.onRejected(exchange, rejection);
`,
    bug: 'the probe slot of a rejected call is lost',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      this.#deps.probeLeases.release(exchange);
      if (exchange.admission.reserved`,
    put: '      if (exchange.admission.reserved',
    bug: 'the probe slot is lost when the client disconnects before forwarding',
    tests: ['dataplane/src/call/delayed-body.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    } else`,
    put: '    } else',
    bug: 'a reservation is kept when the client disconnects before forwarding',
    equivalent: 'a call is forwarded in the tick of its admission: no reservation exists without a call',
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (exchange.admission.reservedNanos > 0 && isRouted(exchange)) this.#deps.releaseReservation(exchange);
    const { context } = exchange.access;`,
    put: '    const { context } = exchange.access;',
    bug: 'a call rejected after its admission keeps its reservation',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    if (this.#isDrained) return REJECTIONS.shuttingDown;
`,
    put: '',
    bug: 'calls after the drain are neither counted nor recorded',
    tests: ['dataplane/src/call/proxy-lifetime.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `      if (rejection.status < 500 && this.#deps.isOverRejectionLimit(exchange)) this.#startTarpit(exchange);`,
    put: `      void this.#startTarpit;`,
    bug: 'rejections of a flood cost as much as responses',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/inflight-calls.ts',
    find: `    exchange.access.revoked = true;
    if (!exchange.wasForwarded`,
    put: '    if (!exchange.wasForwarded',
    bug: 'a revocation between admission and dispatch is missed',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    exchange.settled = true;
`,
    put: '',
    bug: 'a call is recorded twice',
    tests: ['dataplane/src/call/settle.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `recordAfterDecode(exchange, done))) deps.pendingDecodes.onStarted();`,
    put: `recordAfterDecode(exchange, done))) return;`,
    bug: 'a drain ends before a compressed response is recorded',
    tests: ['dataplane/src/call/settle-on-drain.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: '    month: exchange.admission.result!.month,',
    put: '    month: exchange.admission.result!.month + 1,',
    bug: 'the cost of a call counts in another month than its admission',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts', 'dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: ` &&
  exchange.upstreamCall.status === 0 &&
  exchange.upstreamCall.requestFullySent;`,
    put: ` && exchange.upstreamCall.status === 0;`,
    bug: 'a client that disconnects pays for an incompletely sent request',
    tests: ['dataplane/src/call/client-abort.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `const price =
      (successful || isUnanswered) && reading !== null`,
    put: 'const price = reading !== null',
    bug: 'an error response has a cost',
    tests: ['dataplane/src/call/proxy-responses.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    const { reservedNanos } = exchange.admission;
    exchange.admission.reservedNanos = 0;
    settleCounters(deps`,
    put: `    const reservedNanos = 0;
    exchange.admission.reservedNanos = 0;
    settleCounters(deps`,
    bug: 'the reservation of an ended call is kept',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: 'if (costNanos === 0 && tokens === 0 && reservedNanos === 0) return;',
    put: 'if (costNanos === 0 && tokens === 0) return;',
    bug: 'the reservation of a free call is kept',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `sumInputTokens(reading) + reading.tokensOut;`,
    put: `sumInputTokens(reading);`,
    bug: 'tokens of the response do not count against the minute',
    tests: ['dataplane/src/call/proxy-requests.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `  const { reservedNanos } = exchange.admission;
  exchange.admission.reservedNanos = 0;
  settleCounters(counters, exchange, 0, null, reservedNanos);`,
    put: `  const { reservedNanos } = exchange.admission;
  settleCounters(counters, exchange, 0, null, reservedNanos);`,
    bug: 'a reservation is released twice',
    tests: ['dataplane/src/call/settle.test.ts'],
  },
  {
    file: 'dataplane/src/call/settle.ts',
    find: `    if (exchange.routed.context.agentLimits.hardBudget && price.costNanos > exchange.admission.reservedNanos) {`,
    put: `    if (exchange.routed.context.agentLimits.hardBudget && price.costNanos < exchange.admission.reservedNanos) {`,
    bug: 'spend above the reservation is not counted',
    tests: ['dataplane/src/reservation/release-reservation.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `      if (granted) releaseGrantedNanos(this.#counters, exchange, nanos);
`,
    put: '',
    bug: 'an extension granted to an ended call is kept',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    exchange.admission.reservedNanos += nanos;
`,
    put: '',
    bug: 'the extension of a reservation is never released',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    if (!granted) {
`,
    put: `    if (!granted && nanos < 0) {
`,
    bug: 'a stream continues beyond its budget',
    tests: ['dataplane/src/reservation/reserved-stream.test.ts'],
  },
  {
    file: 'dataplane/src/reservation/reserved-stream.ts',
    find: `    if (this.#isCut) return false;
`,
    put: '',
    bug: 'bytes pass after the end of a stream stopped by its budget',
    equivalent: 'stopping a stream aborts its upstream call, which sends nothing more',
  },
  {
    file: 'dataplane/src/reservation/reservation-meter.ts',
    find: 'const USED_RATIO = 0.75;',
    put: 'const USED_RATIO = 1;',
    bug: 'an assumed maximum is used to its end',
    tests: [
      'dataplane/src/reservation/compute-reservation.test.ts',
      'dataplane/src/reservation/reserved-stream.test.ts',
    ],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: '  return upstream?.accountId === accountId;',
    bug: 'a stream continues with rejected credentials',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `  return upstream?.accountId === accountId && upstream.accountStatus === 'active';`,
    put: `  return upstream?.accountStatus === 'active';`,
    bug: 'a stream continues with a replaced account',
    tests: ['dataplane/src/call/revocation.test.ts'],
  },
  {
    file: 'dataplane/src/call/session-revoker.ts',
    find: `context === null || context.agentStatus !== 'active') return false;`,
    put: 'context === null) return false;',
    bug: 'a stream of a paused agent continues after a recheck',
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
    find: `    if (exchange.admission.probeLease === '' || exchange.wasForwarded || !isRouted(exchange)) return;`,
    put: `    if (exchange.admission.probeLease === '' || !isRouted(exchange)) return;`,
    bug: 'the slot of a forwarded probe is released twice',
    equivalent: 'it is called only for calls that were not forwarded',
  },
];
