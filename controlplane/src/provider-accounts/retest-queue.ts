/**
 * Accounts whose provider rejected calls recently, queued until their credentials are tested. Organizations are served
 * in turn, so that one with thousands of accounts delays only its own. An account is queued at most once a minute.
 */
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { FairQueue } from '@acg/base/fairness/fair-queue';

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
  readonly #queue = new FairQueue<string, RetestCandidate>();

  enqueue({ accountId, orgId }: RetestCandidate, nowMs: number): void {
    if (this.#queue.laneSize(orgId) >= QUEUED_PER_ORG_MAX || !this.tryMark(accountId, nowMs)) return;
    this.#queue.push(orgId, { accountId, orgId });
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
    const run = new DynamicShare({ capacity: max, laneMax: perOrg });
    return this.#queue.take(max, (orgId) => run.tryTake(orgId));
  }
}
