/**
 * Accounts whose calls their provider refused lately, until their credentials are tested: organization by organization in
 * turn, so that one with thousands of them waits behind itself. None is suspected more often than once a minute.
 */
const AGAIN_MS = 60_000;
/** Of one organization; the next refused call says it again. */
const WAITING_PER_ORG = 50;
/** Of all together. Beyond it the one suspected longest ago is forgotten. */
const KNOWN_MAX = 20_000;

interface Suspect {
  readonly accountId: string;
  readonly orgId: string;
}

export class Suspects {
  /** Account, or credential that accounts share → when it was suspected last, ms; the oldest first. */
  readonly #known = new Map<string, number>();
  /** Accounts by organization, the next to be served first. */
  readonly #waiting = new Map<string, string[]>();

  add({ accountId, orgId }: Suspect, nowMs: number): void {
    const waiting = this.#waiting.get(orgId) ?? [];
    if (waiting.length >= WAITING_PER_ORG || !this.mark(accountId, nowMs)) return;
    waiting.push(accountId);
    this.#waiting.set(orgId, waiting);
  }

  /** False: it was marked within a minute. */
  mark(id: string, nowMs: number): boolean {
    if (nowMs - (this.#known.get(id) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return false;
    this.#known.delete(id); // to the end
    this.#known.set(id, nowMs);
    if (this.#known.size > KNOWN_MAX) this.#known.delete(this.#known.keys().next().value!);
    return true;
  }

  take(most: number, perOrg: number): readonly Suspect[] {
    const taken: Suspect[] = [];
    const served = new Map<string, number>();
    // An organization that is set again goes to the end, where this loop meets it once more.
    for (const [orgId, waiting] of this.#waiting) {
      if (taken.length === most) break;
      const before = served.get(orgId) ?? 0;
      if (before === perOrg) continue;
      served.set(orgId, before + 1);
      taken.push({ accountId: waiting.shift()!, orgId });
      this.#waiting.delete(orgId);
      if (waiting.length > 0) this.#waiting.set(orgId, waiting);
    }
    return taken;
  }
}
