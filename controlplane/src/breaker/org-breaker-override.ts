/**
 * Override of an organization's breaker by its owners and admins. Causes no event, because the person who decides knows
 * it.
 */
import type { Tx } from '../db/postgres-client.js';
import type { CircuitInput } from './breaker-state-machine.js';
import type { BreakerTransitionWriter } from './breaker-transition-writer.js';
import * as store from './circuit-store.js';

interface OrgBreaker {
  readonly circuitKey: string;
  readonly providerSlug: string;
  readonly orgId: string;
}

/** Closes the breaker (null) or holds it open for `holdMs`, in the caller's transaction. */
export async function overrideOrgBreaker(
  tx: Tx,
  transitions: BreakerTransitionWriter,
  breaker: OrgBreaker,
  holdMs: number | null,
): Promise<void> {
  await store.insertCircuits(tx, [breaker]);
  const rows = await store.lockCircuits(tx, [breaker.circuitKey]);
  await transitions.applyInputs(tx, rows, (row): CircuitInput[] => [
    holdMs === null ? { kind: 'close' } : { kind: 'hold', untilMs: row.nowMs + holdMs },
  ]);
}
