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
import type { BreakerKeys, BreakerState, BreakerStatus, Breakers } from './breakers.js';
import type { ConnectBreakerRegistry } from './connect-breaker-registry.js';

interface KnownBreaker extends BreakerStatus {
  /** Unix ms. */
  readonly receivedAtMs: number;
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
  reportSuccess(circuitKey: string, epoch: number, lease: string): void;
}

interface RegistryClock {
  /** Unix ms. */
  nowMs(): number;
  isLinkUp(): boolean;
}

/** How long after the end of the cooldown the control plane's HALF_OPEN is waited for. */
const HALF_OPEN_GRACE_MS = 2_000;
const UNLEASED_PROBE_INTERVAL_MS = 1_000;
/** More circuits than any fleet has; past it the oldest is forgotten, which means CLOSED. */
const BREAKERS_MAX = 50_000;
/** A circuit that has been CLOSED for so long is as good as one that was never heard of. */
const CLOSED_TTL_MS = DAY_MS;
const CONNECT_BREAKER_OPEN: BreakerStatus = Object.freeze({ state: 'OPEN', epoch: 0, openUntilMs: 0 });
/** A lease of nobody: let through while the control plane is away. */
const NO_LEASE = '';

export class BreakerRegistry implements Breakers {
  readonly #client: ProbeClient;
  readonly #clock: RegistryClock;
  readonly #connectBreakers: Pick<ConnectBreakerRegistry, 'isOpen' | 'onAnswered'>;
  readonly #breakers = new Map<string, KnownBreaker>();
  /** Circuit key → Unix ms of the last call let through without a lease. */
  readonly #unleasedProbeAtMs = new Map<string, number>();

  constructor(
    client: ProbeClient,
    clock: RegistryClock,
    connects: Pick<ConnectBreakerRegistry, 'isOpen' | 'onAnswered'>,
  ) {
    this.#client = client;
    this.#clock = clock;
    this.#connectBreakers = connects;
  }

  /**
   * Everything that is not CLOSED, after a (re)connection: what is not named is CLOSED, under an epoch that may have
   * moved on meanwhile, so it is forgotten.
   */
  replaceAll(circuits: readonly ICircuitState[]): void {
    const named = new Set(circuits.map((circuit) => circuit.circuitKey ?? ''));
    for (const key of this.#breakers.keys()) if (!named.has(key)) this.#breakers.delete(key);
    for (const circuit of circuits) this.update(circuit);
  }

  /** A transition; one that is older than what is known is ignored. */
  update(state: ICircuitState): void {
    const key = state.circuitKey ?? '';
    const epoch = state.epoch ?? 0;
    const known = this.#findKnown(key);
    if (known !== undefined && epoch < known.epoch) return;
    if (known === undefined && this.#breakers.size >= BREAKERS_MAX) this.#evictOldest();
    this.#unleasedProbeAtMs.delete(key);
    const heardAtMs = this.#clock.nowMs();
    this.#breakers.set(key, {
      state: parseBreakerState(state.state),
      epoch,
      openUntilMs: state.openUntilMs ?? 0,
      receivedAtMs: heardAtMs,
    });
  }

  getStatus(upstream: BreakerKeys): BreakerStatus | null {
    const refused = upstream.fleetKey === '' ? null : this.#fleetOrConnectBreaker(upstream);
    if (refused !== null) return refused;
    const circuit = this.#findKnown(upstream.circuitKey);
    if (circuit === undefined) return null;
    if (circuit.state !== 'OPEN' || this.#clock.isLinkUp()) return circuit;
    if (this.#clock.nowMs() < circuit.openUntilMs + HALF_OPEN_GRACE_MS) return circuit;
    return { state: 'HALF_OPEN', epoch: circuit.epoch, openUntilMs: 0 };
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

  /** Known circuits by state, for metrics. */
  countByState(): Record<BreakerState, number> {
    const counts = { CLOSED: 0, HALF_OPEN: 0, OPEN: 0 };
    for (const { state } of this.#breakers.values()) counts[state]++;
    return counts;
  }

  /**
   * OPEN where the fleet or this process cannot connect to the origin. The fleet's word counts while the control plane is
   * there, and an operator's until its end.
   */
  #fleetOrConnectBreaker({ fleetKey, origin }: BreakerKeys): BreakerStatus | null {
    const fleet = this.#findKnown(fleetKey);
    const isHeld = fleet !== undefined && this.#clock.nowMs() < fleet.openUntilMs;
    if (fleet?.state === 'OPEN' && (isHeld || this.#clock.isLinkUp())) return fleet;
    return !isHeld && this.#connectBreakers.isOpen(origin) ? CONNECT_BREAKER_OPEN : null;
  }

  #findKnown(circuitKey: string): BreakerStatus | undefined {
    const circuit = this.#breakers.get(circuitKey);
    if (circuit?.state !== 'CLOSED') return circuit;
    if (this.#clock.nowMs() - circuit.receivedAtMs < CLOSED_TTL_MS) return circuit;
    this.#breakers.delete(circuitKey);
    return undefined;
  }

  /** The control plane is away: one call a second tries the provider. */
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
