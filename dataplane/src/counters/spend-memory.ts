/**
 * What this process knows of each agent's month spend, so that a store that was flushed, restarted empty or rolled
 * back never forgets it (docs/contract.md#without-the-counter-store). Bounded: an agent that fell out is covered by the
 * ledger's figure alone.
 */
import { LRUCache } from 'lru-cache';

class AgentSpend {
  /** Month (see calendar-month.ts) of all figures. */
  month = 0;
  /** Highest total that the store reported. */
  seenNanos = 0;
  /** Highest ledger figure that came with a request. */
  ledgerNanos = 0;
  /** Spend of this process that the store has not confirmed; the ledger's figure may hold it already. */
  waitingNanos = 0;

  /** Moves to `month` when it is later; false when it is an earlier one. */
  enter(month: number): boolean {
    if (month === this.month) return true;
    if (month < this.month) return false;
    this.month = month;
    this.seenNanos = 0;
    this.ledgerNanos = 0;
    this.waitingNanos = 0;
    return true;
  }

  /** Total without the waiting spend: what a lost counter has to start from before that spend is added. */
  baseNanos(month: number): number {
    return month === this.month ? Math.max(this.seenNanos, this.ledgerNanos - this.waitingNanos, 0) : 0;
  }
}

export class SpendMemory {
  readonly #agents: LRUCache<string, AgentSpend>;

  constructor(agentsMax: number) {
    this.#agents = new LRUCache({ max: agentsMax });
  }

  of(agentId: string): AgentSpend {
    let spend = this.#agents.get(agentId);
    if (spend === undefined) {
      spend = new AgentSpend();
      this.#agents.set(agentId, spend);
    }
    return spend;
  }

  ledger(agentId: string, month: number, nanos: number): AgentSpend {
    const spend = this.of(agentId);
    if (nanos > 0 && spend.enter(month) && nanos > spend.ledgerNanos) spend.ledgerNanos = nanos;
    return spend;
  }

  seen(agentId: string, month: number, nanos: number): void {
    const spend = this.of(agentId);
    if (spend.enter(month) && nanos > spend.seenNanos) spend.seenNanos = nanos;
  }

  waiting(agentId: string, month: number, nanos: number): void {
    const spend = this.of(agentId);
    if (spend.enter(month)) spend.waitingNanos += nanos;
  }

  confirmed(agentId: string, month: number, nanos: number): void {
    const spend = this.of(agentId);
    if (spend.month === month) spend.waitingNanos = Math.max(0, spend.waitingNanos - nanos);
  }
}
