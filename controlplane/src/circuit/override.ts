/** What owners and admins decide about their organization's breaker. It is no event: who decides knows it. */
import type { Tx } from '../db/sql.js';
import type { CircuitInput } from './state-machine.js';
import * as store from './store.js';
import type { Transitions } from './transitions.js';

interface OwnBreaker {
  readonly circuitKey: string;
  readonly providerSlug: string;
  readonly orgId: string;
}

/** Closes the breaker now, or holds it open for `holdMs`. In the caller's transaction. */
export async function overrideBreaker(
  tx: Tx,
  transitions: Transitions,
  breaker: OwnBreaker,
  holdMs: number | null,
): Promise<void> {
  await store.insertCircuits(tx, [breaker]);
  const rows = await store.lockCircuits(tx, [breaker.circuitKey]);
  await transitions.apply(tx, rows, (row): CircuitInput[] => [
    holdMs === null ? { kind: 'close' } : { kind: 'hold', untilMs: row.nowMs + holdMs },
  ]);
}
