import type { Area } from '../mutant.js';
import { ADMIT_SCRIPT } from './admit-script.js';

export const COUNTERS: Area = {
  name: 'counters',
  tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/redis-counters.test.ts'],
  built: false,
  mutants: [
    ...ADMIT_SCRIPT,
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `          ? spent + spend.reservedNanos + reservationNanos > budget.budgetNanos
`,
      put: `          ? spent + reservationNanos > budget.budgetNanos
`,
      bug: 'reservations of calls in flight are not counted',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `          ? spent + spend.reservedNanos + reservationNanos > budget.budgetNanos
`,
      put: `          ? spent + spend.reservedNanos + reservationNanos >= budget.budgetNanos
`,
      bug: 'a reservation that just fits is rejected',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: '          : spent >= budget.budgetNanos;',
      put: '          : spent > budget.budgetNanos;',
      bug: 'a call passes though the budget is spent',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `    for (let i = 0; i < limits.budgetedScopes.length; i++) {
`,
      put: `    for (let i = 0; i < Math.min(1, limits.budgetedScopes.length); i++) {
`,
      bug: 'budgets of project and organization are not enforced',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `    for (let i = 0; i < limits.scopes.length; i++) {
`,
      put: `    for (let i = 0; i < 1; i++) {
`,
      bug: 'spend counts for the agent alone',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `      spend.reservedNanos = Math.max(0, spend.reservedNanos - releasedNanos);
`,
      put: '',
      bug: 'reservations are never released',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `      const releasedNanos = i === 0 ? reservationNanos : 0;
`,
      put: `      const releasedNanos = i === 1 ? reservationNanos : 0;
`,
      bug: 'a reservation is released for the project instead of the agent',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `      if (reservationNanos > 0) this.#refreshScopeSpend(limits, limits.scopes[0]!).reservedNanos += reservationNanos;
`,
      put: '',
      bug: 'an admitted call takes no reservation',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `findFullWindow(rateWindows, limits) ?? this.#findExceededBudget(limits, month, reservationNanos)`,
      put: `this.#findExceededBudget(limits, month, reservationNanos) ?? findFullWindow(rateWindows, limits)`,
      bug: 'a spent budget is named before the rate limit',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `    if (rejection === null) {
      rateWindows.consumeRequest();
`,
      put: `    rateWindows.consumeRequest();
    if (rejection === null) {
`,
      bug: 'rejected calls count against the limits',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `reservationNanos <= limits.scopes[0]!.budgetNanos;`,
      put: `reservationNanos < limits.scopes[0]!.budgetNanos;`,
      bug: 'a reservation cannot grow to the whole budget',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `    if (granted) spend.reservedNanos += reservationNanos;
`,
      put: '',
      bug: 'a larger reservation is granted repeatedly',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `      if (cost > 0) spend.addSpend(month, cost);
`,
      put: `      if (cost > 0) spend.addSpend(monthOfMs(this.#clock() / 1000), cost);
`,
      bug: 'a call belongs to the month in which it ended',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `\`\${agentId}:\${providerSlug}\``,
      put: `\`\${providerSlug}\``,
      bug: 'agents share the windows of a provider',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `\`\${agentId}:\${providerSlug}\``,
      put: `\`\${agentId}\``,
      bug: 'all providers of an agent share one window',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `rateWindows.remaining(row, limits) === 0) {`,
      put: `rateWindows.remaining(row, limits) <= 1) {`,
      bug: 'one request less than the limit passes',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `      else if (entry.value[1].isExpired(nowUs)) this.#rateWindows.delete(entry.value[0]);
`,
      put: '',
      bug: 'windows of inactive agents fill the memory',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/memory-counters.ts',
      find: `  else if (spend.value[1].isExpired(month)) this.#monthSpends.delete(spend.value[0]);
`,
      put: '',
      bug: 'spend of past months fills the memory',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/month-spend.ts',
      find: '    return Math.max(own + this.#ledgerOwnNanos, this.#ledgerNanos);',
      put: '    return own + this.#ledgerNanos;',
      bug: `own spend and the ledger's are added up`,
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/month-spend.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/month-spend.ts',
      find: '    return Math.max(own + this.#ledgerOwnNanos, this.#ledgerNanos);',
      put: '    return Math.max(own, this.#ledgerNanos);',
      bug: 'spend that only the ledger counts is hidden by own spend',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/month-spend.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/month-spend.ts',
      find: `    if (month !== this.#ledgerMonth) return own;
`,
      put: '',
      bug: 'the ledger spend of last month counts in this month',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/month-spend.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/month-spend.ts',
      find: `    return this.reservedNanos === 0 && month - newest >= MONTHS_KEPT;`,
      put: '    return month - newest >= MONTHS_KEPT;',
      bug: 'the reservation of a call over months is lost',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/month-spend.ts',
      find: 'month - newest >= MONTHS_KEPT;',
      put: 'month - newest >= 0;',
      bug: 'the spend of this month is dropped',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/rate-limit-windows.ts',
      find: `      if (window.count === 0) window.startUs = this.#nowUs;
`,
      put: `      window.startUs = this.#nowUs;
`,
      bug: 'each request starts a new day',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/rate-limit-windows.ts',
      find: `      if (this.#nowUs >= window.startUs + window.lengthUs) window.count = 0;
`,
      put: `      if (this.#nowUs > window.startUs + window.lengthUs) window.count = 0;
`,
      bug: 'a day is longer than a day',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/rate-limit-windows.ts',
      find: 'nowUs >= startUs + lengthUs + this.#rpmUs)',
      put: 'nowUs >= startUs + this.#rpmUs)',
      bug: 'a pair is dropped while its day is open',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/rate-limit-windows.ts',
      find: `    if (nowUs < this.#tokensAddedAtUs + 2 * this.#tokenUs) return false;
`,
      put: '',
      bug: 'tokens of a call longer than a day are lost',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/rate-limit-windows.ts',
      find: `limit > 0 ? this.#rpmLog.timeAt(this.#rpmCount - limit) : this.#nowUs;`,
      put: `limit > 0 ? this.#rpmLog.timeAt(0) : this.#nowUs;`,
      bug: 'a lowered limit reports a too early retry time',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/sliding-window-log.ts',
      find: '+ windowUs <= nowUs) {',
      put: '+ windowUs < nowUs) {',
      bug: 'a request counts for longer than a minute',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/sliding-window-log.ts',
      find: `    if (newest - nowUs <= windowUs) return newest;
`,
      put: `    if (newest - nowUs <= windowUs) return nowUs;
`,
      bug: 'a clock that steps back ends the day early',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/token-usage-window.ts',
      find: 'this.#buckets[expired]! + BUCKETS < bucket) expired',
      put: 'this.#buckets[expired]! + BUCKETS <= bucket) expired',
      bug: 'tokens expire before the end of their minute',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/counters/memory/token-usage-window.ts',
      find: '      if (used >= limit) return',
      put: '      if (used > limit) return',
      bug: 'Retry-After ends before the tokens have expired',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/limits/limit-table.ts',
      find: 'WINDOW_MS.minute + 30,',
      put: 'WINDOW_MS.minute,',
      bug: 'more than the limit arrives at a provider in a minute, because latencies vary',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'base/src/limits.ts',
      find: 'day: DAY_MS }',
      put: 'day: DAY_MS - 1_000 }',
      bug: 'a day is shorter than a day',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/limits/calendar-month.ts',
      find: '  return date.getUTCFullYear() * 12 + date.getUTCMonth();',
      put: '  return date.getUTCFullYear() * 12 + date.getUTCMonth() + 1;',
      bug: 'a month is named after the next one',
      tests: [
        'dataplane/src/limits/calendar-month.test.ts',
        'test/src/limits/memory-counters.test.ts',
        'test/src/limits/memory-counters.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/limits/calendar-month.ts',
      find: '  return monthStartSec(month + 1);',
      put: '  return monthStartSec(month);',
      bug: 'a spent budget reports that the month has ended',
      tests: ['dataplane/src/limits/calendar-month.test.ts'],
    },
    {
      file: 'dataplane/src/limits/agent-limits.ts',
      find: `input.hardBudget && input.byRow[BUDGET_ROW] !== UNLIMITED;`,
      put: 'input.hardBudget;',
      bug: 'a hard budget without an amount rejects unboundable calls',
      tests: ['dataplane/src/context/decode-limits.test.ts'],
    },
    {
      file: 'dataplane/src/limits/agent-limits.ts',
      find: 'scopes.filter(({ budgetNanos }) => budgetNanos !== UNLIMITED);',
      put: 'scopes.slice(0, 1).filter(({ budgetNanos }) => budgetNanos !== UNLIMITED);',
      bug: 'budgets of project and organization are not enforced',
      tests: ['test/src/limits/memory-counters.test.ts', 'test/src/limits/memory-counters.property.test.ts'],
    },
    {
      file: 'dataplane/src/limits/apply-ledger-spend.ts',
      find: `    counters.updateLedgerSpend(tag, parseMonth(month ?? ''), spentNanos ?? 0, ledgerNanos ?? 0);
`,
      put: '',
      bug: 'the ledger spend of projects and organizations is ignored',
      tests: ['dataplane/src/limits/apply-ledger-spend.test.ts'],
    },
    {
      file: 'dataplane/src/limits/apply-ledger-spend.ts',
      find: `    counters.updateLedgerSpend(agentId ?? '', parseMonth(month ?? ''), spentNanos ?? 0, ledgerNanos ?? 0);`,
      put: `    counters.updateLedgerSpend(agentId ?? '', parseMonth(month ?? ''), ledgerNanos ?? 0, spentNanos ?? 0);`,
      bug: 'spend that data planes already reported is added again',
      tests: ['dataplane/src/limits/apply-ledger-spend.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `    if (month < this.ledgerMonth) return;
`,
      put: '',
      bug: 'the ledger spend of an ended month counts in this month',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `    this.#releasedNanos += nanos;
`,
      put: '',
      bug: 'a released reservation is not reported to the store',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `    this.#releasedNanos = 0;
`,
      put: '',
      bug: 'a reservation is released with every call',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `  onReservationReportLost(): void {
    this.#reservationVersion++;`,
      put: `  onReservationReportLost(): void {
    void this.#reservationVersion;`,
      bug: "after a lost store call reservations follow the store's state",
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `      if (totalNanos > acknowledgedNanos) hasUnacknowledged = true;
`,
      put: `      if (totalNanos > acknowledgedNanos) hasUnacknowledged = false;
`,
      bug: 'spend that the store never received is lost',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `    if (this.reservedNanos === 0) this.#withReservations.add(this);
`,
      put: '',
      bug: 'reservations of long calls expire',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counters.ts',
      find: `      if (!counter.isRecentlyUsed && counter.isEvictable) return;`,
      put: `      if (!counter.isRecentlyUsed) return;`,
      bug: 'unacknowledged spend is evicted for new agents',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counters.ts',
      find: `    if (acknowledgedAtMs <= this.#lastLossAtMs) return false;
`,
      put: '',
      bug: 'one data loss is logged repeatedly',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `      if (outcome === 'unchecked' && limits.rejectsUnchecked) {
`,
      put: `      if (outcome === 'unchecked' && !limits.rejectsUnchecked) {
`,
      bug: "during an outage reservations grow against the agent's setting",
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counter.ts',
      find: `    this.reserve(nanos);
    this.#reservationVersion++;
`,
      put: `    this.reserve(nanos);
`,
      bug: 'releasing an unchecked extension releases that of another call',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `      if (outcome === 'unchecked') this.#spendCounters.getOrCreate(limits.agentId).reserveUnchecked(reservationNanos);
`,
      put: '',
      bug: 'an unchecked extension is released although the store never had it',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `    for (let i = 0; i < limits.scopes.length; i++) {
`,
      put: `    for (let i = 0; i < 1; i++) {
`,
      bug: 'spend counts for the agent alone',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `      if (releasedNanos > 0) counter.release(releasedNanos);
`,
      put: '',
      bug: 'reservations are never released',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `      if (rejection !== null) done(rejection);
      else this.#nodeOf`,
      put: '      this.#nodeOf',
      bug: 'on a cluster the budgets of project and organization are not enforced',
      tests: ['test/src/limits/redis-cluster.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `      else this.#checkBudgetsInOrder(limits, budgets, index + 1, done);`,
      put: '      else done(null);',
      bug: "on a cluster the organization's budget is not checked",
      tests: ['test/src/limits/redis-cluster.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-counters.ts',
      find: `    this.#nodeOf(slot).checkBudgets(slot, limits, ownBudgets, reservationNanos, ({ rejectedByRow, outcome }) => {`,
      put: `    this.#nodeOf(slot).checkBudgets(slot, limits, limits.budgets.slice(1), reservationNanos, ({ rejectedByRow, outcome }) => {`,
      bug: "a reservation grows against another budget than the agent's",
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `    if (!this.enforcement.isEnforcing) {
      this.enforcement.countUnchecked(1);`,
      put: `    if (this.enforcement.isEnforcing) {
      this.enforcement.countUnchecked(1);`,
      bug: 'calls pass unchecked while the store is up',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `    call.batch.deliverReply(reply, call.isAnswered);`,
      put: `    call.batch.deliverReply(reply, false);`,
      bug: 'a call that continued unchecked gets two responses',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/spend-counters.ts',
      find: `counter.reservedNanos > 0 || counter.hasReleases`,
      put: `counter.reservedNanos > 0`,
      bug: 'reservations of calls that ended during an outage stay until their lease expires',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `        const timer = setTimeout(resolve, timeoutMs);
        this.#onIdle`,
      put: `        const timer = setTimeout(() => void timeoutMs, 0);
        this.#onIdle`,
      bug: 'a store without responses blocks shutdown',
      equivalent: 'a silent connection is closed after 2 s with its waiting requests: only slower',
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `    } else if (this.#hasUnacknowledged()) {
      this.#sendProbe();
`,
      put: '',
      bug: 'limits are enforced before the store has the spend of the outage',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `      this.#scriptRunner.reconnect(sent.batch.slot);
`,
      put: '',
      bug: 'a dead connection is never closed',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `  readonly #onReplyTimeout = (call: InflightCall): void => {
    call.isTimedOut = true;
    this.#failOpen(\`no reply within \${this.#options.timeoutMs} ms\`);
`,
      put: `  readonly #isTimedOut = (call: InflightCall): void => {
    call.isTimedOut = true;
`,
      bug: 'a slow store slows every call',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `    this.#probeTimer.unref();
`,
      put: '',
      bug: 'a process does not exit while the store is down',
      equivalent: 'shutdown closes the counters, which stops the timer',
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `        this.#countersToResend = this.#spendCounters.listAll();
`,
      put: '',
      bug: 'a store that lost its data gets only the requested totals',
      tests: [
        'test/src/limits/redis-counters.test.ts',
        'test/src/limits/fail-open.test.ts',
        'test/src/limits/month-spend.property.test.ts',
      ],
    },
    {
      file: 'dataplane/src/counters/redis/redis-node.ts',
      find: `      this.stopProbing();
      this.enforcement.resume();
      this.onRecovered();
`,
      put: `      this.stopProbing();
      this.enforcement.resume();
`,
      bug: 'after an outage the store lacks reservations',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/reply-timeouts.ts',
      find: `    setImmediate(this.#expireOverdue);`,
      put: `    this.#expireOverdue();`,
      bug: 'a busy process treats an arrived response as late',
      tests: ['dataplane/src/counters/redis/reply-timeouts.test.ts', 'test/src/limits/fail-open.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/reply-timeouts.ts',
      find: '      if (item.sentAtMs > this.#cutoffMs) {',
      put: '      if (item.sentAtMs > Number.NEGATIVE_INFINITY) {',
      bug: 'a response is never late',
      tests: ['dataplane/src/counters/redis/reply-timeouts.test.ts', 'test/src/limits/fail-open.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `known.admissionCheck.limits === limits &&
      known.admissionCheck.reservationNanos === reservationNanos`,
      put: `known.admissionCheck.reservationNanos === reservationNanos`,
      bug: 'requests of one batch are checked against the limits of the first',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `known.admissionCheck.limits === limits &&
      known.admissionCheck.reservationNanos === reservationNanos`,
      put: `known.admissionCheck.limits === limits`,
      bug: 'requests of one batch all reserve the amount of the first',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `        if (grantedNanos > 0) reservationCounter!.release(grantedNanos);
`,
      put: '',
      bug: 'a reservation for a call that continued unchecked stays for ever',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `  const isAdmitted = position < verdict.admittedCount;`,
      put: `  const isAdmitted = position <= verdict.admittedCount;`,
      bug: 'one call more than admitted passes',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `verdict.rpmRemaining + verdict.admittedCount - 1 - position`,
      put: 'verdict.rpmRemaining',
      bug: 'requests of one batch all report the rest after the last',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: 'item.agentId === agentId && item.providerSlug === providerSlug && item.row === row',
      put: 'item.providerSlug === providerSlug && item.row === row',
      bug: 'tokens of one tick count for another agent',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: 'item.agentId === agentId && item.providerSlug === providerSlug && item.row === row',
      put: 'item.agentId === agentId && item.row === row',
      bug: 'tokens of one tick count for another provider',
      tests: ['test/src/limits/redis-counters.test.ts'],
    },
    {
      file: 'dataplane/src/counters/redis/admission-batch.ts',
      find: `    if (counter.reservedNanos > 0 || counter.hasReleases) item.hasReservations = true;
`,
      put: '',
      bug: 'a released reservation is not reported to the store',
      tests: ['test/src/limits/reservation-lease.test.ts'],
    },
  ],
};
