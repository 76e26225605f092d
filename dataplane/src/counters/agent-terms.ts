/** What admission has to know of an agent. Made once per context; the same object serves all of its calls. */
import type { Limits } from './limit-table.js';

export interface AgentTerms {
  readonly agentId: string;
  readonly limits: Limits;
  /** Month of `spentNanos` (see calendar-month.ts); figures of another month than the store's now do not count. */
  readonly month: number;
  /** The ledger's figure of that month. */
  readonly spentNanos: number;
}
