/**
 * Accounts whose calls their provider refused lately, until their credentials are tested: organization by organization in
 * turn, so that one with thousands of them waits behind itself. None is suspected more often than once a minute.
 */
const RETEST_INTERVAL_MS = 60_000;
/** Of one organization; the next refused call says it again. */
const QUEUED_PER_ORG_MAX = 50;
/** Of all together. Beyond it the one suspected longest ago is forgotten. */
const MARKED_MAX = 20_000;

interface RetestCandidate {
  readonly accountId: string;
  readonly orgId: string;
}

export class RetestQueue {
  /** Account, or credential that accounts share → when it was suspected last, ms; the oldest first. */
  readonly #markedAtMs = new Map<string, number>();
  /** Accounts by organization, the next to be served first. */
  readonly #queuedByOrg = new Map<string, string[]>();

  enqueue({ accountId, orgId }: RetestCandidate, nowMs: number): void {
    const waiting = this.#queuedByOrg.get(orgId) ?? [];
    if (waiting.length >= QUEUED_PER_ORG_MAX || !this.tryMark(accountId, nowMs)) return;
    waiting.push(accountId);
    this.#queuedByOrg.set(orgId, waiting);
  }

  /** False: it was marked within a minute. */
  tryMark(id: string, nowMs: number): boolean {
    if (nowMs - (this.#markedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < RETEST_INTERVAL_MS) return false;
    this.#markedAtMs.delete(id); // to the end
    this.#markedAtMs.set(id, nowMs);
    if (this.#markedAtMs.size > MARKED_MAX) this.#markedAtMs.delete(this.#markedAtMs.keys().next().value!);
    return true;
  }

  dequeue(max: number, perOrg: number): readonly RetestCandidate[] {
    const taken: RetestCandidate[] = [];
    const served = new Map<string, number>();
    // An organization that is set again goes to the end, where this loop meets it once more.
    for (const [orgId, waiting] of this.#queuedByOrg) {
      if (taken.length === max) break;
      const before = served.get(orgId) ?? 0;
      if (before === perOrg) continue;
      served.set(orgId, before + 1);
      taken.push({ accountId: waiting.shift()!, orgId });
      this.#queuedByOrg.delete(orgId);
      if (waiting.length > 0) this.#queuedByOrg.set(orgId, waiting);
    }
    return taken;
  }
}
