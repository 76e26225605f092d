/**
 * `node bench/dist/breaker-outage-simulation.js`: simulates organizations at one provider over the breaker's state machine in
 * steps of 100 ms. First an outage of five minutes: how many calls reach the provider, and when organizations are
 * served again. Then hostile organizations whose calls fail while the provider is healthy: how many good calls of the
 * others are rejected. Compares a breaker per organization with the shared, voting breaker of the previous release (its
 * rule is part of this file, for the comparison only).
 */
import {
  availableProbes,
  type Circuit,
  type CircuitRules,
  failureRateOf,
  hasFailuresInRow,
  NEW_CIRCUIT,
  nextCircuit,
  type OutcomeSum,
  type SecondCount,
  summarizeWindow,
  sumOutcomes,
} from '@acg/controlplane/breaker/breaker-state-machine';

const RULES: CircuitRules = { requestsMin: 20, errorRate: 0.5, cooldownMs: 30_000, probes: 5 };
const WINDOW_MS = 30_000;
const STEP_MS = 100;
const OTHERS_MIN = 2;
/** Hostile organizations. */
const HOSTILE = 2;
const HOSTILE_CALLS_PER_S = 8;

interface Scenario {
  readonly organizations: number;
  /** Of all honest organizations together, distributed as 1, 1/2, 1/3, … */
  readonly callsPerS: number;
  readonly hostile: number;
  /** The provider fails from … to, ms; null: it is healthy all the time. */
  readonly outage: readonly [number, number] | null;
  readonly endMs: number;
}

/** Decides which calls of an organization pass. */
interface Gate {
  /** Whether a call may go to the provider now. */
  admits(org: number): boolean;
  ended(org: number, good: boolean, nowMs: number): void;
  /** Called at the end of each step. */
  advance(nowMs: number): void;
  closed(org: number): boolean;
}

class Window {
  #seconds = new Map<number, { requests: number; failures: number }>();

  add(nowMs: number, good: boolean): void {
    const second = nowMs - (nowMs % 1_000);
    const sum = this.#seconds.get(second) ?? { requests: 0, failures: 0 };
    sum.requests++;
    if (!good) sum.failures++;
    this.#seconds.set(second, sum);
  }

  counts(nowMs: number): SecondCount[] {
    for (const second of this.#seconds.keys()) if (second <= nowMs - WINDOW_MS) this.#seconds.delete(second);
    return [...this.#seconds].map(([secondMs, sum]) => ({ ...sum, secondMs, agents: ['a'] }));
  }

  clear(): void {
    this.#seconds.clear();
  }
}

class Breaker {
  circuit: Circuit = NEW_CIRCUIT;
  readonly window = new Window();
  leased = 0;

  admits(): boolean {
    if (this.circuit.state !== 'HALF_OPEN') return this.circuit.state === 'CLOSED';
    if (availableProbes(this.circuit, this.leased, RULES) === 0) return false;
    this.leased++;
    return true;
  }

  move(next: Circuit): void {
    if (next.epoch !== this.circuit.epoch) {
      this.leased = 0;
      this.window.clear();
    }
    this.circuit = next;
  }

  /** True when the outcome was that of a probe. */
  probed(good: boolean, nowMs: number): boolean {
    if (this.circuit.state !== 'HALF_OPEN') return false;
    this.leased--;
    this.move(nextCircuit(this.circuit, { kind: 'probe', epoch: this.circuit.epoch, good }, nowMs, RULES));
    return true;
  }
}

/** A breaker per organization. */
class OwnGates implements Gate {
  readonly #breakers: readonly Breaker[];
  readonly #failed = new Set<number>();
  /** Number of open breakers of organizations that had a success. */
  #othersOpen = 0;
  readonly #succeeded: boolean[] = [];

  constructor(count: number) {
    this.#breakers = Array.from({ length: count }, () => new Breaker());
  }

  admits(org: number): boolean {
    return this.#breakers[org]!.admits();
  }

  ended(org: number, good: boolean, nowMs: number): void {
    const breaker = this.#breakers[org]!;
    if (breaker.probed(good, nowMs) || breaker.circuit.state !== 'CLOSED') return;
    breaker.window.add(nowMs, good);
    if (good) this.#succeeded[org] = true;
    else this.#failed.add(org);
  }

  advance(nowMs: number): void {
    for (const org of this.#failed) {
      const breaker = this.#breakers[org]!;
      const evidence = summarizeWindow(breaker.window.counts(nowMs));
      const othersFail = hasFailuresInRow(evidence) && this.#othersOpen >= OTHERS_MIN;
      breaker.move(nextCircuit(breaker.circuit, { kind: 'evidence', evidence, othersFail }, nowMs, RULES));
    }
    this.#failed.clear();
    if (nowMs % 1_000 === 0) {
      for (const breaker of this.#breakers) breaker.move(nextCircuit(breaker.circuit, { kind: 'clock' }, nowMs, RULES));
      this.#othersOpen = this.#breakers.filter(
        (one, org) => one.circuit.state !== 'CLOSED' && this.#succeeded[org],
      ).length;
    }
  }

  closed(org: number): boolean {
    return this.#breakers[org]!.circuit.state === 'CLOSED';
  }
}

/** One breaker for all, on which organizations vote: the previous release. */
class SharedGate implements Gate {
  readonly #breaker = new Breaker();
  readonly #windows: readonly Window[];
  readonly #active = new Set<number>();
  readonly #succeeded: boolean[] = [];

  constructor(count: number) {
    this.#windows = Array.from({ length: count }, () => new Window());
  }

  admits(): boolean {
    return this.#breaker.admits();
  }

  ended(org: number, good: boolean, nowMs: number): void {
    if (this.#breaker.probed(good, nowMs)) {
      this.#forget();
      return;
    }
    if (this.#breaker.circuit.state !== 'CLOSED') return;
    this.#windows[org]!.add(nowMs, good);
    this.#active.add(org);
    if (good) this.#succeeded[org] = true;
  }

  advance(nowMs: number): void {
    const { circuit } = this.#breaker;
    if (circuit.state === 'CLOSED' && nowMs % 1_000 === 0 && this.#tripDue(nowMs)) {
      const evidence = { requests: 20, failures: 20, failuresInRow: 20, activeAgents: 1, failingAgents: 1 };
      this.#breaker.move(
        nextCircuit(circuit, { kind: 'evidence', evidence, othersFail: false }, nowMs, RULES, () => 0),
      );
      this.#forget();
    }
    this.#breaker.move(nextCircuit(this.#breaker.circuit, { kind: 'clock' }, nowMs, RULES, () => 0));
  }

  closed(): boolean {
    return this.#breaker.circuit.state === 'CLOSED';
  }

  #forget(): void {
    if (this.#breaker.circuit.state === 'HALF_OPEN') return;
    for (const org of this.#active) this.#windows[org]!.clear();
    this.#active.clear();
  }

  #tripDue(nowMs: number): boolean {
    const seen: { sum: OutcomeSum; succeeded: boolean }[] = [];
    for (const org of this.#active) {
      const sum = sumOutcomes(this.#windows[org]!.counts(nowMs));
      if (sum.requests > 0) seen.push({ sum, succeeded: this.#succeeded[org] === true });
    }
    const fails = ({ sum }: { sum: OutcomeSum }): boolean => failureRateOf(sum) >= RULES.errorRate;
    if (sumOutcomes(seen.map(({ sum }) => sum)).requests < RULES.requestsMin) return false;
    if (seen.length === 1) return fails(seen[0]!);
    const users = seen.filter(({ sum }) => sum.requests >= 5);
    const voters = users.filter(({ succeeded }) => succeeded);
    const against = voters.filter(fails).length;
    return against >= (users.length > 1 ? 2 : 1) && against * 2 >= voters.length;
  }
}

function simulate({ organizations, callsPerS, hostile, outage, endMs }: Scenario, gate: Gate) {
  const weights = Array.from({ length: organizations }, (_, i) => 1 / (i + 1));
  const cumulated: number[] = [];
  let total = 0;
  for (const weight of weights) {
    total += weight;
    cumulated.push(total);
  }
  const drawn = (): number => {
    const at = Math.random() * total;
    let [low, high] = [0, organizations - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cumulated[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  let [reached, tried, reachedLater, rejectedGood, good] = [0, 0, 0, 0, 0];
  let peak = 0;
  /** After the outage: calls and rejections by second. */
  const after: { calls: number; rejected: number }[] = [];
  const secondly = new Map<number, number>();
  for (let nowMs = STEP_MS; nowMs <= endMs; nowMs += STEP_MS) {
    const isOut = outage !== null && nowMs >= outage[0] && nowMs < outage[1];
    const isAfter = outage !== null && nowMs >= outage[1];
    const calls = poisson((callsPerS * STEP_MS) / 1_000);
    const passed: (readonly [org: number, good: boolean])[] = [];
    const call = (org: number, works: boolean): void => {
      if (!gate.admits(org)) {
        if (works) rejectedGood++;
        return;
      }
      passed.push([org, works]);
      if (works) good++;
    };
    for (let i = 0; i < calls; i++) {
      const org = drawn();
      if (isOut) tried++;
      const before = passed.length;
      call(org, !isOut);
      if (isAfter) {
        const at = Math.floor((nowMs - outage[1]) / 1_000);
        const second = after[at] ?? { calls: 0, rejected: 0 };
        after[at] = second;
        second.calls++;
        if (passed.length === before) second.rejected++;
      }
      if (passed.length === before || !isOut) continue;
      reached++;
      if (nowMs >= outage[0] + 60_000) {
        reachedLater++;
        const second = Math.floor(nowMs / 1_000);
        secondly.set(second, (secondly.get(second) ?? 0) + 1);
      }
    }
    for (let i = 0; i < hostile; i++) {
      if (Math.random() < (HOSTILE_CALLS_PER_S * STEP_MS) / 1_000) call(organizations + i, nowMs < 10_000);
    }
    for (const [org, works] of passed) gate.ended(org, works && !isOut, nowMs);
    gate.advance(nowMs);
  }
  for (const count of secondly.values()) peak = Math.max(peak, count);
  const until = (share: number): string =>
    `${after.findLastIndex(({ calls, rejected }) => rejected > calls * share) + 1} s`;
  return {
    ...(outage === null
      ? { goodCalls: good, goodCallsRefused: rejectedGood }
      : {
          callsInOutage: tried,
          reachedProvider: reached,
          perSecondAfterAMinute: Number((reachedLater / ((outage[1] - outage[0] - 60_000) / 1_000)).toFixed(1)),
          peakPerSecondAfterAMinute: peak,
          halfPassAfter: until(0.5),
          '99PercentPassAfter': until(0.01),
          notClosedAtEnd: Array.from({ length: organizations }, (_, org) => org).filter((org) => !gate.closed(org))
            .length,
        }),
  };
}

/** Knuth's method for small means, a normal distribution above. */
function poisson(mean: number): number {
  if (mean > 50)
    return Math.max(
      0,
      Math.round(
        mean + Math.sqrt(mean) * Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random()),
      ),
    );
  const limit = Math.exp(-mean);
  let count = -1;
  for (let product = 1; product > limit; count++) product *= Math.random();
  return count;
}

function compare(name: string, scenario: Scenario): void {
  const count = scenario.organizations + scenario.hostile;
  console.log(name);
  console.table({
    'one shared, voting': simulate(scenario, new SharedGate(count)),
    'one per organization': simulate(scenario, new OwnGates(count)),
  });
}

for (const callsPerS of [200, 2_000]) {
  compare(`outage of 5 minutes, 10 000 organizations, ${callsPerS} calls a second`, {
    organizations: 10_000,
    callsPerS,
    hostile: 0,
    outage: [600_000, 900_000],
    endMs: 1_080_000,
  });
}
for (const organizations of [1, 3, 10, 1_000]) {
  compare(`two strangers fail for 10 minutes, ${organizations} honest organizations`, {
    organizations,
    callsPerS: Math.max(0.5, organizations / 20),
    hostile: HOSTILE,
    outage: null,
    endMs: 600_000,
  });
}
