/**
 * Accounts whose provider rejected calls recently, queued until their credentials are tested. Organizations are served
 * in turn, so that one with thousands of accounts delays only its own. An account is queued at most once a minute.
 */
const RETEST_INTERVAL_MS = 60_000;
/** Queued accounts per organization. Further accounts are queued again by their next rejected call. */
const QUEUED_PER_ORG_MAX = 50;
/** Marks of all organizations together. Beyond this the oldest mark is dropped. */
const MARKED_MAX = 20_000;

interface RetestCandidate {
  readonly accountId: string;
  readonly orgId: string;
}

export class RetestQueue {
  /** Account or shared credential → when it was last marked, ms; oldest first. */
  readonly #markedAtMs = new Map<string, number>();
  /** Queued accounts by organization, the one to be served next first. */
  readonly #queuedByOrg = new Map<string, string[]>();

  enqueue({ accountId, orgId }: RetestCandidate, nowMs: number): void {
    const waiting = this.#queuedByOrg.get(orgId) ?? [];
    if (waiting.length >= QUEUED_PER_ORG_MAX || !this.tryMark(accountId, nowMs)) return;
    waiting.push(accountId);
    this.#queuedByOrg.set(orgId, waiting);
  }

  /** Marks the account or shared credential. Returns false when it was marked within the last minute. */
  tryMark(id: string, nowMs: number): boolean {
    if (nowMs - (this.#markedAtMs.get(id) ?? Number.NEGATIVE_INFINITY) < RETEST_INTERVAL_MS) return false;
    this.#markedAtMs.delete(id); // moves it to the end
    this.#markedAtMs.set(id, nowMs);
    if (this.#markedAtMs.size > MARKED_MAX) this.#markedAtMs.delete(this.#markedAtMs.keys().next().value!);
    return true;
  }

  dequeue(max: number, perOrg: number): readonly RetestCandidate[] {
    const taken: RetestCandidate[] = [];
    const served = new Map<string, number>();
    // An organization that is set again moves to the end, where this loop visits it once more.
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
