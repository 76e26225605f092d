/**
 * The circuit breaker's rules, without time, storage or network of their own (docs/contract.md#circuits).
 *
 *            error rate reached              cooldown over
 *   CLOSED ─────────────────────▶ OPEN ─────────────────────▶ HALF_OPEN
 *      ▲                           ▲        one bad probe         │
 *      │                           └──────────────────────────────┤
 *      └──────────────────────────────────────────────────────────┘
 *                              all probes good
 *
 * Every transition raises the epoch by one. A result carries the epoch it was admitted under; one of an older epoch says
 * nothing about the present and changes nothing.
 */

export type CircuitStateName = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface Circuit {
  readonly state: CircuitStateName;
  readonly epoch: number;
  /** Unix ms; 0 unless OPEN. */
  readonly openUntilMs: number;
  /** Good probes of this epoch; 0 unless HALF_OPEN. */
  readonly probesGood: number;
}

export interface CircuitRules {
  readonly requestsMin: number;
  /** 0…1 */
  readonly errorRate: number;
  readonly cooldownMs: number;
  readonly probes: number;
}

/** What one organization saw of the circuit in the window. */
export interface OrgCount {
  readonly requests: number;
  readonly failures: number;
}

export interface OrgWindow extends OrgCount {
  /** Whether it had a success there within a day: only then its failures speak for others. */
  readonly succeeded: boolean;
}

export type CircuitInput =
  /** The window's counts were looked at. */
  | { readonly kind: 'counts'; readonly counts: readonly OrgWindow[] }
  /** Time has passed. */
  | { readonly kind: 'clock' }
  /** A leased probe came to its end. */
  | { readonly kind: 'probe'; readonly epoch: number; readonly good: boolean };

export const NEW_CIRCUIT: Circuit = { state: 'CLOSED', epoch: 1, openUntilMs: 0, probesGood: 0 };

/** The circuit after the input; the same object when nothing changes. */
export function decide(circuit: Circuit, input: CircuitInput, nowMs: number, rules: CircuitRules): Circuit {
  switch (input.kind) {
    case 'counts':
      return circuit.state === 'CLOSED' && tripDue(input.counts, rules) ? opened(circuit, nowMs, rules) : circuit;
    case 'clock':
      return circuit.state === 'OPEN' && nowMs >= circuit.openUntilMs ? entered(circuit, 'HALF_OPEN') : circuit;
    case 'probe':
      if (circuit.state !== 'HALF_OPEN' || input.epoch !== circuit.epoch) return circuit;
      if (!input.good) return opened(circuit, nowMs, rules);
      return circuit.probesGood + 1 >= rules.probes
        ? entered(circuit, 'CLOSED')
        : { ...circuit, probesGood: circuit.probesGood + 1 };
  }
}

const opened = (circuit: Circuit, nowMs: number, rules: CircuitRules): Circuit => ({
  ...entered(circuit, 'OPEN'),
  openUntilMs: nowMs + rules.cooldownMs,
});

const entered = (circuit: Circuit, state: CircuitStateName): Circuit => ({
  state,
  epoch: circuit.epoch + 1,
  openUntilMs: 0,
  probesGood: 0,
});

/** An organization with fewer requests in the window has no say. */
const ORG_REQUESTS_MIN = 5;

/**
 * Whether the window's counts open the circuit. Alone in the window, an organization decides by its own rate. Where
 * others are, those with enough requests and a success there within a day vote, each by its own rate and never by the
 * sum: at least half of them and, where several used it, at least two. Signups are free: so what two of ten see, or
 * what only newcomers see, stops nobody else.
 */
export function tripDue(counts: readonly OrgWindow[], rules: CircuitRules): boolean {
  if (sumOf(counts).requests < rules.requestsMin) return false;
  const fails = (count: OrgCount): boolean => rateOf(count) >= rules.errorRate;
  if (counts.length === 1) return fails(counts[0]!);
  const users = counts.filter((count) => count.requests >= ORG_REQUESTS_MIN);
  const voters = users.filter((count) => count.succeeded);
  const against = voters.filter(fails).length;
  return against >= (users.length > 1 ? 2 : 1) && against * 2 >= voters.length;
}

export function sumOf(counts: readonly OrgCount[]): OrgCount {
  let requests = 0;
  let failures = 0;
  for (const count of counts) {
    requests += count.requests;
    failures += count.failures;
  }
  return { requests, failures };
}

/** 0…1; 0 without requests. */
export const rateOf = ({ requests, failures }: OrgCount): number => (requests === 0 ? 0 : failures / requests);

/** How many more probes may be admitted: good ones have used their place up, leased ones hold theirs. */
export const probePlaces = (circuit: Circuit, leased: number, rules: CircuitRules): number =>
  circuit.state === 'HALF_OPEN' ? Math.max(0, rules.probes - circuit.probesGood - leased) : 0;

/**
 * Whether the outcome of an ordinary request counts now. Epoch 0 comes from a data plane that has seen no transition of
 * this circuit: such a request counts when it began after the last one.
 */
export function countsNow(
  circuit: Circuit,
  changedAtMs: number,
  outcome: { readonly epoch: number; readonly startedAtMs: number },
): boolean {
  if (circuit.state !== 'CLOSED') return false;
  if (outcome.epoch !== 0) return outcome.epoch === circuit.epoch;
  return circuit.epoch === NEW_CIRCUIT.epoch || outcome.startedAtMs >= changedAtMs;
}
