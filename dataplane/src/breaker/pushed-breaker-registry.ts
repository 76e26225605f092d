/**
 * The breaker states that the control plane pushes (docs/contract.md#circuits), and the probe leases of HALF_OPEN
 * breakers. The control plane runs the state machine, so all data planes agree. Only whether this process can connect
 * to an origin is decided here (connect-breaker-registry.ts).
 *
 * A breaker without any update is CLOSED. A breaker is forgotten a day after it closed; outcomes then count for any
 * epoch (`countsNow` of the control plane), so the control plane may forget it, too.
 *
 * While the control plane is unreachable, the last states stay. An OPEN breaker whose cooldown has passed then counts
 * as HALF_OPEN. There are no probe leases, so one call a second passes instead, which keeps a partition from blocking a
 * healthy provider.
 */
import { DAY_MS } from '@acg/base/time-and-money-units';
import type { ICircuitState } from '@acg/proto/messages';
import type { BreakerKeys, BreakerState, BreakerStatus, Breakers } from './breakers-interface.js';
import type { ConnectBreakerRegistry } from './connect-breaker-registry.js';

interface KnownBreaker extends BreakerStatus {
  /** Unix ms of the last update. */
  readonly receivedAtMs: number;
}

/** Requests probe leases from the control plane, which grants them for the whole fleet. */
export interface ProbeClient {
  /**
   * Resolves with the lease, null when none is free, and the current state. Rejects when the control plane does not
   * answer.
   */
  acquire(
    circuitKey: string,
    epoch: number,
  ): Promise<{ readonly lease: string | null; readonly state: ICircuitState | null }>;
  release(circuitKey: string, lease: string): void;
  /** Reports a successful probe before its call ends. */
  reportSuccess(circuitKey: string, epoch: number, lease: string): void;
}

interface RegistryClock {
  /** Unix ms. */
  nowMs(): number;
  isLinkUp(): boolean;
}

/** How long after the end of the cooldown the control plane's HALF_OPEN may take to arrive, ms. */
const HALF_OPEN_GRACE_MS = 2_000;
const UNLEASED_PROBE_INTERVAL_MS = 1_000;
/** More breakers than any fleet has. Beyond it the oldest is forgotten, which makes it CLOSED. */
const BREAKERS_MAX = 50_000;
/** A breaker that was CLOSED for this long is treated like an unknown one. */
const CLOSED_TTL_MS = DAY_MS;
const CONNECT_BREAKER_OPEN: BreakerStatus = Object.freeze({ state: 'OPEN', epoch: 0, openUntilMs: 0 });
/** Lease of a call that passes while the control plane is unreachable. */
const NO_LEASE = '';

export class PushedBreakerRegistry implements Breakers {
  readonly #client: ProbeClient;
  readonly #clock: RegistryClock;
  readonly #connectBreakers: Pick<ConnectBreakerRegistry, 'isOpen' | 'onAnswered'>;
  readonly #breakers = new Map<string, KnownBreaker>();
  /** Circuit key → Unix ms of the last call that passed without a lease. */
  readonly #unleasedProbeAtMs = new Map<string, number>();

  constructor(
    client: ProbeClient,
    clock: RegistryClock,
    connectBreakers: Pick<ConnectBreakerRegistry, 'isOpen' | 'onAnswered'>,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#connectBreakers = connectBreakers;
  }

  /**
   * Replaces all states after a (re)connection; `circuits` lists all breakers that are not CLOSED. Every other breaker
   * is CLOSED, possibly under a later epoch, so it is forgotten.
   */
  replaceAll(circuits: readonly ICircuitState[]): void {
    const listedKeys = new Set(circuits.map((circuit) => circuit.circuitKey ?? ''));
    for (const key of this.#breakers.keys()) if (!listedKeys.has(key)) this.#breakers.delete(key);
    for (const circuit of circuits) this.update(circuit);
  }

  /** Applies a transition; one with an older epoch than the known state is ignored. */
  update(state: ICircuitState): void {
    const key = state.circuitKey ?? '';
    const epoch = state.epoch ?? 0;
    const known = this.#findKnown(key);
    if (known !== undefined && epoch < known.epoch) return;
    if (known === undefined && this.#breakers.size >= BREAKERS_MAX) this.#evictOldest();
    this.#unleasedProbeAtMs.delete(key);
    const receivedAtMs = this.#clock.nowMs();
    this.#breakers.set(key, {
      state: parseBreakerState(state.state),
      epoch,
      openUntilMs: state.openUntilMs ?? 0,
      receivedAtMs: receivedAtMs,
    });
  }

  getStatus(upstream: BreakerKeys): BreakerStatus | null {
    const blocking = upstream.fleetKey === '' ? null : this.#fleetOrConnectBreaker(upstream);
    if (blocking !== null) return blocking;
    const known = this.#findKnown(upstream.circuitKey);
    if (known === undefined) return null;
    if (known.state !== 'OPEN' || this.#clock.isLinkUp()) return known;
    if (this.#clock.nowMs() < known.openUntilMs + HALF_OPEN_GRACE_MS) return known;
    return { state: 'HALF_OPEN', epoch: known.epoch, openUntilMs: 0 };
  }

  onUpstreamAnswered(upstream: BreakerKeys): void {
    if (upstream.fleetKey !== '') this.#connectBreakers.onAnswered(upstream.origin);
  }

  acquireProbe(circuitKey: string, epoch: number, done: (lease: string | null) => void): void {
    this.#client.acquire(circuitKey, epoch).then(
      ({ lease, state }) => {
        if (state !== null) this.update(state);
        done(lease);
      },
      () => done(this.#grantUnleasedProbe(circuitKey)),
    );
  }

  releaseProbe(circuitKey: string, lease: string): void {
    if (lease !== NO_LEASE) this.#client.release(circuitKey, lease);
  }

  reportProbeSuccess(circuitKey: string, epoch: number, lease: string): void {
    if (lease !== NO_LEASE) this.#client.reportSuccess(circuitKey, epoch, lease);
  }

  /** Number of known breakers by state, for metrics. */
  countByState(): Record<BreakerState, number> {
    const counts = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };
    for (const { state } of this.#breakers.values()) counts[state]++;
    return counts;
  }

  /**
   * Returns an OPEN status when the fleet breaker or the connect breaker blocks the origin. The fleet breaker's state
   * applies while the control plane is connected; an operator's override applies until its end.
   */
  #fleetOrConnectBreaker({ fleetKey, origin }: BreakerKeys): BreakerStatus | null {
    const fleet = this.#findKnown(fleetKey);
    const isOverridden = fleet !== undefined && this.#clock.nowMs() < fleet.openUntilMs;
    if (fleet?.state === 'OPEN' && (isOverridden || this.#clock.isLinkUp())) return fleet;
    return !isOverridden && this.#connectBreakers.isOpen(origin) ? CONNECT_BREAKER_OPEN : null;
  }

  #findKnown(circuitKey: string): BreakerStatus | undefined {
    const known = this.#breakers.get(circuitKey);
    if (known?.state !== 'CLOSED') return known;
    if (this.#clock.nowMs() - known.receivedAtMs < CLOSED_TTL_MS) return known;
    this.#breakers.delete(circuitKey);
    return undefined;
  }

  /** Grants one probe a second while the control plane is unreachable; null: not yet. */
  #grantUnleasedProbe(circuitKey: string): string | null {
    const nowMs = this.#clock.nowMs();
    if (nowMs - (this.#unleasedProbeAtMs.get(circuitKey) ?? 0) < UNLEASED_PROBE_INTERVAL_MS) return null;
    this.#unleasedProbeAtMs.set(circuitKey, nowMs);
    return NO_LEASE;
  }

  #evictOldest(): void {
    const oldest = this.#breakers.keys().next().value;
    if (oldest !== undefined) this.#breakers.delete(oldest);
  }
}

function parseBreakerState(state: string | null | undefined): BreakerState {
  return state === 'OPEN' || state === 'HALF_OPEN' ? state : 'CLOSED';
}
