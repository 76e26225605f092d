/**
 * The circuits as the control plane pushes them (docs/contract.md#circuits), and the probe places of those that are
 * HALF_OPEN. The state machine itself is the control plane's, so all data planes agree; only whether this process can
 * connect is decided here (connect-breakers.ts).
 *
 * A circuit that was never heard of is CLOSED, and one that closed a day ago is no longer remembered: outcomes then count
 * for whatever epoch there is (see `countsNow` of the control plane), so the control plane may forget it too. While the control plane is away the last known states stay; an OPEN one
 * whose cooldown has passed is then treated as HALF_OPEN, and since nobody hands out probe places, one call a second
 * is let through instead, so that a partition does not keep a healthy provider shut.
 */
import { DAY_MS } from '@acg/base/units';
import type { ICircuitState } from '@acg/proto/messages';
import type { BreakerNames, Circuit, CircuitStateName, Circuits } from './circuits.js';
import type { ConnectBreakers } from './connect-breakers.js';

interface KnownCircuit extends Circuit {
  /** Unix ms. */
  readonly heardAtMs: number;
}

/** Asks the control plane, which hands out the probe places of the whole fleet. */
export interface ProbeClient {
  /** Rejects when the control plane does not answer. */
  acquire(
    circuitKey: string,
    epoch: number,
  ): Promise<{ readonly lease: string | null; readonly state: ICircuitState | null }>;
  release(circuitKey: string, lease: string): void;
  /** The probe is known to be good before its call ends. */
  succeeded(circuitKey: string, epoch: number, lease: string): void;
}

interface BoardClock {
  /** Unix ms. */
  nowMs(): number;
  linkUp(): boolean;
}

/** How long after the end of the cooldown the control plane's HALF_OPEN is waited for. */
const OVERDUE_MS = 2_000;
const UNLEASED_PROBE_MS = 1_000;
/** More circuits than any fleet has; past it the oldest is forgotten, which means CLOSED. */
const CIRCUITS_MAX = 50_000;
/** A circuit that has been CLOSED for so long is as good as one that was never heard of. */
const CLOSED_MEMORY_MS = DAY_MS;
const CANNOT_CONNECT: Circuit = Object.freeze({ state: 'OPEN', epoch: 0, openUntilMs: 0 });
/** A lease of nobody: let through while the control plane is away. */
const NO_LEASE = '';

export class CircuitBoard implements Circuits {
  readonly #client: ProbeClient;
  readonly #clock: BoardClock;
  readonly #connects: Pick<ConnectBreakers, 'isOpen' | 'answered'>;
  readonly #circuits = new Map<string, KnownCircuit>();
  /** Circuit key → Unix ms of the last call let through without a lease. */
  readonly #unleasedProbes = new Map<string, number>();

  constructor(client: ProbeClient, clock: BoardClock, connects: Pick<ConnectBreakers, 'isOpen' | 'answered'>) {
    this.#client = client;
    this.#clock = clock;
    this.#connects = connects;
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
    this.#unleasedProbes.delete(key);
    const heardAtMs = this.#clock.nowMs();
    this.#circuits.set(key, { state: stateName(state.state), epoch, openUntilMs: state.openUntilMs ?? 0, heardAtMs });
  }

  view(upstream: BreakerNames): Circuit | null {
    const refused = upstream.fleetKey === '' ? null : this.#unreachable(upstream);
    if (refused !== null) return refused;
    const circuit = this.#remembered(upstream.circuitKey);
    if (circuit === undefined) return null;
    if (circuit.state !== 'OPEN' || this.#clock.linkUp()) return circuit;
    if (this.#clock.nowMs() < circuit.openUntilMs + OVERDUE_MS) return circuit;
    return { state: 'HALF_OPEN', epoch: circuit.epoch, openUntilMs: 0 };
  }

  answered(upstream: BreakerNames): void {
    if (upstream.fleetKey !== '') this.#connects.answered(upstream.origin);
  }

  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void {
    this.#client.acquire(circuitKey, epoch).then(
      ({ lease, state }) => {
        if (state !== null) this.update(state);
        done(lease);
      },
      () => done(this.#unleasedProbe(circuitKey)),
    );
  }

  releaseProbe(circuitKey: string, lease: string): void {
    if (lease !== NO_LEASE) this.#client.release(circuitKey, lease);
  }

  probeSucceeded(circuitKey: string, epoch: number, lease: string): void {
    if (lease !== NO_LEASE) this.#client.succeeded(circuitKey, epoch, lease);
  }

  /** Known circuits by state, for metrics. */
  counts(): Record<CircuitStateName, number> {
    const counts = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };
    for (const { state } of this.#circuits.values()) counts[state]++;
    return counts;
  }

  /**
   * OPEN where the fleet or this process cannot connect to the origin. The fleet's word counts while the control plane is
   * there, and an operator's until its end.
   */
  #unreachable({ fleetKey, origin }: BreakerNames): Circuit | null {
    const fleet = this.#remembered(fleetKey);
    const isHeld = fleet !== undefined && this.#clock.nowMs() < fleet.openUntilMs;
    if (fleet?.state === 'OPEN' && (isHeld || this.#clock.linkUp())) return fleet;
    return !isHeld && this.#connects.isOpen(origin) ? CANNOT_CONNECT : null;
  }

  #remembered(circuitKey: string): Circuit | undefined {
    const circuit = this.#circuits.get(circuitKey);
    if (circuit?.state !== 'CLOSED') return circuit;
    if (this.#clock.nowMs() - circuit.heardAtMs < CLOSED_MEMORY_MS) return circuit;
    this.#circuits.delete(circuitKey);
    return undefined;
  }

  /** The control plane is away: one call a second tries the provider. */
  #unleasedProbe(circuitKey: string): string | null {
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#unleasedProbes.get(circuitKey) ?? 0) < UNLEASED_PROBE_MS) return null;
    this.#unleasedProbes.set(circuitKey, nowMs);
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
