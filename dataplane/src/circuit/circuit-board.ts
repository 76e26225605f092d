/**
 * The circuits as the control plane pushes them (DESIGN §10), and the probe places of those that are HALF_OPEN. The
 * state machine itself is the control plane's: here nothing is decided, so all data planes agree.
 *
 * A circuit that was never heard of is CLOSED, and one that closed a day ago is no longer remembered: outcomes then count
 * for whatever epoch there is (see `countsNow` of the control plane), so the control plane may forget it too. While the control plane is away the last known states stay; an OPEN one
 * whose cooldown has passed is then treated as HALF_OPEN, and since nobody hands out probe places, one call a second
 * is let through instead, so that a partition does not keep a healthy provider shut.
 */
import type { ICircuitState } from '@acg/proto/messages';

export type CircuitStateName = 'CLOSED' | 'HALF_OPEN' | 'OPEN';

export interface Circuit {
  readonly state: CircuitStateName;
  /** Raised by each transition; results carry the epoch that they were admitted under. */
  readonly epoch: number;
  /** Unix ms; 0 unless OPEN. */
  readonly openUntilMs: number;
}

interface KnownCircuit extends Circuit {
  /** Unix ms. */
  readonly heardAtMs: number;
}

/** Who hands out probe places for the whole fleet. */
export interface ProbeOffice {
  /** Rejects when the control plane does not answer. */
  acquire(
    circuitKey: string,
    epoch: number,
  ): Promise<{ readonly lease: string | null; readonly state: ICircuitState | null }>;
  release(circuitKey: string, lease: string): void;
  /** The probe is known to be good before its call ends. */
  succeeded(circuitKey: string, epoch: number, lease: string): void;
}

export interface BoardClock {
  /** Unix ms. */
  nowMs(): number;
  linkUp(): boolean;
}

/** How long after the end of the cooldown the control plane's HALF_OPEN is waited for. */
const OVERDUE_MS = 2_000;
const LONE_PROBE_MS = 1_000;
/** More circuits than any fleet has; past it the oldest is forgotten, which means CLOSED. */
const CIRCUITS_MAX = 50_000;
/** A circuit that has been CLOSED for so long is as good as one that was never heard of. */
const CLOSED_MEMORY_MS = 86_400_000;
/** A lease of nobody: let through while the control plane is away. */
const NO_LEASE = '';

export class CircuitBoard {
  readonly #office: ProbeOffice;
  readonly #clock: BoardClock;
  readonly #circuits = new Map<string, KnownCircuit>();
  /** Circuit key → Unix ms of the last call let through without a lease. */
  readonly #loneProbes = new Map<string, number>();

  constructor(office: ProbeOffice, clock: BoardClock) {
    this.#office = office;
    this.#clock = clock;
  }

  /**
   * Everything that is not CLOSED, after a (re)connection: what is not named is CLOSED, under an epoch that may have
   * moved on meanwhile, so it is forgotten.
   */
  replace(circuits: readonly ICircuitState[]): void {
    const named = new Set(circuits.map((circuit) => circuit.circuitKey ?? ''));
    for (const key of this.#circuits.keys()) if (!named.has(key)) this.#circuits.delete(key);
    for (const circuit of circuits) this.update(circuit);
  }

  /** A transition; one that is older than what is known is ignored. */
  update(state: ICircuitState): void {
    const key = state.circuitKey ?? '';
    const epoch = state.epoch ?? 0;
    const known = this.#remembered(key);
    if (known !== undefined && epoch < known.epoch) return;
    if (known === undefined && this.#circuits.size >= CIRCUITS_MAX) this.#forgetOldest();
    this.#loneProbes.delete(key);
    const heardAtMs = this.#clock.nowMs();
    this.#circuits.set(key, { state: stateName(state.state), epoch, openUntilMs: state.openUntilMs ?? 0, heardAtMs });
  }

  /** Null: CLOSED, and nothing was ever heard of it. */
  view(circuitKey: string): Circuit | null {
    const circuit = this.#remembered(circuitKey);
    if (circuit === undefined) return null;
    if (circuit.state !== 'OPEN' || this.#clock.linkUp()) return circuit;
    if (this.#clock.nowMs() < circuit.openUntilMs + OVERDUE_MS) return circuit;
    return { state: 'HALF_OPEN', epoch: circuit.epoch, openUntilMs: 0 };
  }

  /** A lease, or null when every place is taken. Never called back synchronously. */
  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void {
    this.#office.acquire(circuitKey, epoch).then(
      ({ lease, state }) => {
        if (state !== null) this.update(state);
        done(lease);
      },
      () => done(this.#loneProbe(circuitKey)),
    );
  }

  releaseProbe(circuitKey: string, lease: string): void {
    if (lease !== NO_LEASE) this.#office.release(circuitKey, lease);
  }

  probeSucceeded(circuitKey: string, epoch: number, lease: string): void {
    if (lease !== NO_LEASE) this.#office.succeeded(circuitKey, epoch, lease);
  }

  /** Known circuits by state, for metrics. */
  counts(): Record<CircuitStateName, number> {
    const counts = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };
    for (const { state } of this.#circuits.values()) counts[state]++;
    return counts;
  }

  #remembered(circuitKey: string): Circuit | undefined {
    const circuit = this.#circuits.get(circuitKey);
    if (circuit?.state !== 'CLOSED') return circuit;
    if (this.#clock.nowMs() - circuit.heardAtMs < CLOSED_MEMORY_MS) return circuit;
    this.#circuits.delete(circuitKey);
    return undefined;
  }

  /** The control plane is away: one call a second tries the provider. */
  #loneProbe(circuitKey: string): string | null {
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#loneProbes.get(circuitKey) ?? 0) < LONE_PROBE_MS) return null;
    this.#loneProbes.set(circuitKey, nowMs);
    return NO_LEASE;
  }

  #forgetOldest(): void {
    const oldest = this.#circuits.keys().next().value;
    if (oldest !== undefined) this.#circuits.delete(oldest);
  }
}

function stateName(state: string | null | undefined): CircuitStateName {
  return state === 'OPEN' || state === 'HALF_OPEN' ? state : 'CLOSED';
}
