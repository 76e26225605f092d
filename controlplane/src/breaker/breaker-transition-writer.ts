/**
 * Applies inputs to breakers: runs the state machine on rows that the caller has locked, writes the changes, and emits
 * events to the organizations whose calls are now rejected or pass again. One transaction changes many breakers,
 * because an outage affects those of all organizations.
 */
import type { Logger } from '@acg/base/log';
import type { Tx } from '../db/postgres-client.js';
import { appendEvents } from '../events/append-events.js';
import {
  type Circuit,
  type CircuitInput,
  type CircuitRules,
  failureRateOf,
  nextCircuit,
  type OutcomeSum,
} from './breaker-state-machine.js';
import * as store from './circuit-store.js';

export interface CircuitConfig extends CircuitRules {
  readonly windowMs: number;
}

/** Content of an event. */
interface CircuitEvent {
  readonly orgIds: readonly string[];
  readonly providerSlug: string;
  readonly scope: 'organization' | 'fleet';
  readonly state: 'OPEN' | 'CLOSED';
  readonly seen: OutcomeSum;
}

export class BreakerTransitionWriter {
  constructor(
    readonly rules: CircuitConfig,
    readonly log: Logger,
    readonly random: () => number = Math.random,
  ) {}

  /** Applies the inputs of each row in order. {@link store.lockCircuits} must have locked the rows. */
  async applyInputs(
    tx: Tx,
    rows: readonly store.CircuitRow[],
    inputsOf: (row: store.CircuitRow) => readonly CircuitInput[],
  ): Promise<void> {
    const changes: store.CircuitChange[] = [];
    const announcements: CircuitEvent[] = [];
    for (const row of rows) {
      const { next, input } = this.#runInputs(row, inputsOf(row));
      if (input === null) continue;
      if (next.state === row.state && next.epoch === row.epoch) {
        await store.writeProbesGood(tx, row.circuitKey, next.probesGood);
        continue;
      }
      const { change, seen } = this.#describeChange(row, next, input);
      changes.push(change);
      if (seen !== null && row.orgId !== null) {
        const eventState = next.state === 'OPEN' ? 'OPEN' : 'CLOSED';
        announcements.push({
          orgIds: [row.orgId],
          providerSlug: row.providerSlug,
          scope: 'organization',
          state: eventState,
          seen,
        });
      }
    }
    await this.writeChanges(tx, changes);
    await this.appendCircuitEvents(tx, announcements);
  }

  async writeChanges(tx: Tx, changes: readonly store.CircuitChange[]): Promise<void> {
    await store.writeCircuits(tx, changes);
    for (const { circuitKey, state, epoch, reason } of changes) {
      this.log.info({ circuit: circuitKey, state, epoch, reason }, 'circuit changed');
    }
  }

  async appendCircuitEvents(tx: Tx, announcements: readonly CircuitEvent[]): Promise<void> {
    const eventsOf = (isOpened: boolean) =>
      announcements
        .filter(({ state }) => (state === 'OPEN') === isOpened)
        .flatMap(({ orgIds, providerSlug, scope, state, seen }) => {
          const data = {
            providerSlug,
            state,
            errorRate: Math.round(failureRateOf(seen) * 1_000) / 10,
            requests: seen.requests,
            windowSeconds: this.rules.windowMs / 1_000,
            scope,
          };
          return orgIds.map((orgId) => ({ orgId, data }));
        });
    await appendEvents(tx, 'provider.circuit_opened', eventsOf(true));
    await appendEvents(tx, 'provider.circuit_closed', eventsOf(false));
  }

  /** `input`: the last input that changed the circuit; null: none did. */
  #runInputs(row: store.CircuitRow, inputs: readonly CircuitInput[]): { next: Circuit; input: CircuitInput | null } {
    let next: Circuit = row;
    let last: CircuitInput | null = null;
    for (const input of inputs) {
      const after = nextCircuit(next, input, row.nowMs, this.rules, this.random);
      if (after !== next) last = input;
      next = after;
    }
    return { next, input: last };
  }

  /**
   * `seen`: figures of the event; null: no event. A failed probe continues an outage that was announced, unless an
   * administrator opened the breaker. Actions of administrators cause no event.
   */
  #describeChange(
    row: store.CircuitRow,
    next: Circuit,
    input: CircuitInput,
  ): { change: store.CircuitChange; seen: OutcomeSum | null } {
    const { circuitKey } = row;
    const { state, epoch, openUntilMs, probesGood } = next;
    const change = (reason: store.CircuitReason | null, announced: boolean): store.CircuitChange => ({
      circuitKey,
      state,
      epoch,
      openUntilMs,
      probesGood,
      reason,
      announced,
    });
    switch (input.kind) {
      case 'evidence':
        return { change: change('error_rate', true), seen: input.evidence };
      case 'probe':
        if (state === 'OPEN')
          return { change: change('probe_failed', true), seen: row.announced ? null : { requests: 1, failures: 1 } };
        return {
          change: change(null, false),
          seen: row.announced ? { requests: this.rules.probes, failures: 0 } : null,
        };
      case 'clock':
        return { change: change(null, row.announced), seen: null };
      case 'close':
        return { change: change(null, false), seen: null };
      case 'hold':
        return { change: change('held', false), seen: null };
    }
  }
}
