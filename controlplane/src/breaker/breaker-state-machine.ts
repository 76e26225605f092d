/**
 * The rules of the circuit breakers, as pure functions without clock, storage or network (docs/contract.md#circuits).
 *
 *            its own calls fail              cooldown over
 *   CLOSED ─────────────────────▶ OPEN ─────────────────────▶ HALF_OPEN
 *      ▲                           ▲        a probe fails         │
 *      │                           └──────────────────────────────┤
 *      └──────────────────────────────────────────────────────────┘
 *                              all probes succeed
 *
 * Every transition raises the epoch by one. A result carries the epoch of its admission; a result of an older
 * epoch changes nothing. An administrator can close a breaker or hold it open at any time.
 */

export type CircuitStateName = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface Circuit {
  readonly state: CircuitStateName;
  readonly epoch: number;
  /** End of the cooldown or of the administrator's hold, Unix ms; 0 unless OPEN. */
  readonly openUntilMs: number;
  /** Successful probes of this epoch; 0 unless HALF_OPEN. */
  readonly probesGood: number;
}

export interface CircuitRules {
  readonly requestsMin: number;
  /** Fraction, 0 to 1. */
  readonly errorRate: number;
  readonly cooldownMs: number;
  readonly probes: number;
}

export interface OutcomeSum {
  readonly requests: number;
  readonly failures: number;
}

/** Outcomes of one organization at one origin in one second, as counted by one control plane. */
export interface SecondCount extends OutcomeSum {
  /** Unix ms of the whole second. */
  readonly secondMs: number;
  /** Up to two of the agents that made the requests; empty: unknown. */
  readonly agents: readonly string[];
}

/** Sum of an organization's own calls in the window. */
export interface WindowEvidence extends OutcomeSum {
  /** Failures since the last second with a success. */
  readonly failuresInRow: number;
  /**
   * Number of distinct agents in the window, and among the failures in a row. Stored counts name at most two agents per
   * second.
   */
  readonly activeAgents: number;
  readonly failingAgents: number;
}

export type CircuitInput =
  /** The outcomes of the window were summed. `othersFail`: breakers of other organizations at this origin are open. */
  | { readonly kind: 'evidence'; readonly evidence: WindowEvidence; readonly othersFail: boolean }
  /** Time has passed. */
  | { readonly kind: 'clock' }
  /** A leased probe has ended. */
  | { readonly kind: 'probe'; readonly epoch: number; readonly good: boolean }
  /** An administrator closes the breaker, or holds it open until a time (Unix ms). */
  | { readonly kind: 'close' }
  | { readonly kind: 'hold'; readonly untilMs: number };

export const NEW_CIRCUIT: Circuit = { state: 'CLOSED', epoch: 1, openUntilMs: 0, probesGood: 0 };

/** A cooldown is up to this fraction longer, so that the probes of many organizations do not start together. */
const COOLDOWN_JITTER = 0.5;
/** Own failures in a row that open a breaker while breakers of others are open. */
const FAILURES_IN_ROW = 3;

/**
 * Returns the circuit after the input; the same object if nothing changes. `random` returns 0 to 1, for the jitter of
 * the cooldown.
 */
export function nextCircuit(
  circuit: Circuit,
  input: CircuitInput,
  nowMs: number,
  rules: CircuitRules,
  random: () => number = Math.random,
): Circuit {
  const opened = (): Circuit => enterOpenUntil(circuit, nowMs + rules.cooldownMs * (1 + COOLDOWN_JITTER * random()));
  switch (input.kind) {
    case 'evidence':
      return circuit.state === 'CLOSED' && shouldOpen(input.evidence, rules, input.othersFail) ? opened() : circuit;
    case 'clock':
      return circuit.state === 'OPEN' && nowMs >= circuit.openUntilMs ? enterState(circuit, 'HALF_OPEN') : circuit;
    case 'probe':
      if (circuit.state !== 'HALF_OPEN' || input.epoch !== circuit.epoch) return circuit;
      if (!input.good) return opened();
      return circuit.probesGood + 1 >= rules.probes
        ? enterState(circuit, 'CLOSED')
        : { ...circuit, probesGood: circuit.probesGood + 1 };
    case 'close':
      return circuit.state === 'CLOSED' ? circuit : enterState(circuit, 'CLOSED');
    case 'hold':
      return enterOpenUntil(circuit, input.untilMs);
  }
}

const enterOpenUntil = (circuit: Circuit, untilMs: number): Circuit => ({
  ...enterState(circuit, 'OPEN'),
  openUntilMs: Math.ceil(untilMs),
});

const enterState = (circuit: Circuit, state: CircuitStateName): Circuit => ({
  state,
  epoch: circuit.epoch + 1,
  openUntilMs: 0,
  probesGood: 0,
});

/**
 * Whether an organization's own calls open its breaker. Failures of other organizations only lower the required
 * evidence. They never replace it: signups are free, so other organizations' failures alone must not block calls.
 */
export function shouldOpen(evidence: WindowEvidence, rules: CircuitRules, othersFail: boolean): boolean {
  if (evidence.requests >= rules.requestsMin && failureRateOf(evidence) >= rules.errorRate) return true;
  return othersFail && hasFailuresInRow(evidence);
}

/**
 * True if the last {@link FAILURES_IN_ROW} calls failed. If two agents are active, both must fail, because one agent
 * may cause failures by what it sends.
 */
export const hasFailuresInRow = ({ failuresInRow, activeAgents, failingAgents }: WindowEvidence): boolean =>
  failuresInRow >= FAILURES_IN_ROW && (activeAgents < 2 || failingAgents >= 2);

/** Sums the window. A failure in the same second as a success does not count as after it. */
export function summarizeWindow(counts: readonly SecondCount[]): WindowEvidence {
  const sum = sumOutcomes(counts);
  let goodAtMs = Number.NEGATIVE_INFINITY;
  for (const count of counts) if (count.requests > count.failures) goodAtMs = Math.max(goodAtMs, count.secondMs);
  const inRow = counts.filter((count) => count.secondMs > goodAtMs);
  return {
    ...sum,
    failuresInRow: sumOutcomes(inRow).failures,
    activeAgents: countAgents(counts),
    failingAgents: countAgents(inRow),
  };
}

const countAgents = (counts: readonly SecondCount[]): number => new Set(counts.flatMap(({ agents }) => agents)).size;

export function sumOutcomes(counts: readonly OutcomeSum[]): OutcomeSum {
  let requests = 0;
  let failures = 0;
  for (const count of counts) {
    requests += count.requests;
    failures += count.failures;
  }
  return { requests, failures };
}

/** Fraction, 0 to 1; 0 without requests. */
export const failureRateOf = ({ requests, failures }: OutcomeSum): number => (requests === 0 ? 0 : failures / requests);

/** Number of probes that may still be leased: successful and leased probes each occupy a slot. */
export const availableProbes = (circuit: Circuit, leased: number, rules: CircuitRules): number =>
  circuit.state === 'HALF_OPEN' ? Math.max(0, rules.probes - circuit.probesGood - leased) : 0;

/**
 * Whether the outcome of an ordinary request still counts. Epoch 0 means that the data plane has seen no transition of
 * this breaker; such a request counts if it began after the last transition.
 */
export function isOfCurrentEpoch(
  circuit: Circuit,
  changedAtMs: number,
  outcome: { readonly epoch: number; readonly startedAtMs: number },
): boolean {
  if (circuit.state !== 'CLOSED') return false;
  if (outcome.epoch !== 0) return outcome.epoch === circuit.epoch;
  return circuit.epoch === NEW_CIRCUIT.epoch || outcome.startedAtMs >= changedAtMs;
}
