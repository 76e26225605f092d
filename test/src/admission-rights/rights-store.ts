/**
 * Store side of admission rights: the uses and the grants of one agent at one provider, without I/O. Guarantees: uses
 * plus unused rights never exceed a limit after a decision; a right is freed only when its writer returned it. An
 * expired right that was not returned counts as a use for a window. Data that a failover or FLUSHALL takes is gone.
 */
import {
  isIdleReport,
  maxUnusedRights,
  type RequestLimits,
  type RightsMessage,
  type RightsReply,
  type RightsRules,
} from './rights-messages.js';

export interface RightsEntry {
  /** Version of the newest message that arrived. */
  version: number;
  /** Version of the message that got the last grant. */
  grantedVersion: number;
  /** The writer's total may rise to this. */
  ceiling: number;
  /** The writer's total as far as the store has counted it. */
  used: number;
  /** End of the term, store clock, µs. */
  untilUs: number;
  /** When its newest message arrived. */
  seenUs: number;
}

export interface Counts {
  minute: number;
  day: number;
}

export class RightsStore {
  readonly #entries = new Map<string, RightsEntry>();
  /** Uses of the sliding window, the oldest first. */
  #log: { readonly atUs: number; readonly count: number }[] = [];
  #day = { startUs: Number.NEGATIVE_INFINITY, count: 0 };
  /** The server that made the last decision, and since when. Empty after FLUSHALL. */
  #server = { runId: '', sinceUs: Number.NEGATIVE_INFINITY };
  #lastWaitUs = Number.NEGATIVE_INFINITY;

  constructor(protected readonly rules: RightsRules) {}

  /** Handles one message at `nowUs` of the store's clock on the server `runId`. */
  decide(message: RightsMessage, runId: string, nowUs: number): RightsReply {
    if (runId !== this.#server.runId) this.#server = { runId, sinceUs: nowUs };
    this.#dropPastEntries(nowUs);
    const known = this.#entries.get(message.writer);
    this.#addUses(this.stampUs(nowUs, known), this.growth(message, known));
    const entry = known ?? this.#addEntry(message.writer, nowUs);
    let isNewest = false;
    let isBusy = false;
    if (entry !== undefined) {
      isBusy = nowUs < entry.seenUs + this.rules.termUs;
      entry.seenUs = nowUs;
      isNewest = message.version > entry.version;
      entry.version = Math.max(entry.version, message.version);
      entry.used = Math.max(entry.used, message.total);
      entry.ceiling = Math.max(entry.ceiling, entry.used);
      if (this.freesRights(message, entry)) entry.ceiling = entry.used;
    }

    const { requestCount, limits } = message;
    const uses = this.countUses(nowUs);
    const free = leastRoom(limits, uses) - this.countRights(nowUs) - this.countUnknownRights(nowUs, limits);
    const admittedCount = Math.min(requestCount, Math.max(0, free));
    this.#addUses(nowUs, admittedCount);
    uses.minute += admittedCount;
    uses.day += admittedCount;
    const otherOutcome = this.isRejected(limits, uses, nowUs) ? 'rejected' : 'wait';
    if (admittedCount < requestCount && otherOutcome === 'wait') this.#lastWaitUs = nowUs;

    const ceiling = isNewest && isBusy && !isIdleReport(message) ? this.#grant(entry!, limits, uses, nowUs) : null;
    return { admittedCount, otherOutcome, confirmed: entry?.used ?? message.total, ceiling };
  }

  /** The growth of a writer's total. Without an entry it is what no reply has confirmed. */
  protected growth({ total, confirmed }: RightsMessage, known: RightsEntry | undefined): number {
    return Math.max(0, total - (known?.used ?? confirmed));
  }

  /** The instant for which the growth of a writer's total counts. */
  protected stampUs(nowUs: number, _known: RightsEntry | undefined): number {
    return nowUs;
  }

  /** Only when all grants of the entry are void: a message may arrive after newer ones. */
  protected freesRights({ voidBelowVersion }: RightsMessage, { grantedVersion }: RightsEntry): boolean {
    return grantedVersion < voidBelowVersion;
  }

  /** Uses, and expired rights. */
  protected countUses(nowUs: number): Counts {
    const { minuteUs, travelUs, dayUs } = this.rules;
    this.#log = this.#log.filter(({ atUs }) => atUs + minuteUs + travelUs > nowUs);
    const expired = this.countExpiredRights(nowUs);
    const { startUs, count } = this.#day;
    return {
      minute: expired + this.#log.reduce((sum, { count }) => sum + count, 0),
      day: expired + (nowUs < startUs + dayUs ? count : 0),
    };
  }

  /** Rights after their term whose writer has neither stated their use nor returned them. */
  protected countExpiredRights(nowUs: number): number {
    let unreturned = 0;
    for (const { ceiling, used, untilUs } of this.#entries.values()) if (untilUs <= nowUs) unreturned += ceiling - used;
    return unreturned;
  }

  /** Unused rights whose term runs. */
  protected countRights(nowUs: number): number {
    let unused = 0;
    for (const { ceiling, used, untilUs } of this.#entries.values()) if (untilUs > nowUs) unused += ceiling - used;
    return unused;
  }

  /** Rights that another server may have granted, as many as there may be. */
  protected countUnknownRights(nowUs: number, limits: RequestLimits): number {
    return this.isOnNewServer(nowUs) ? maxUnusedRights(this.rules, limits) : 0;
  }

  /** On another server and after FLUSHALL, for one term: rights of which this server knows nothing may be in use. */
  protected isOnNewServer(nowUs: number): boolean {
    return nowUs < this.#server.sinceUs + this.rules.termUs;
  }

  /** Whether uses alone fill a limit. */
  protected isRejected(limits: RequestLimits, uses: Counts, _nowUs: number): boolean {
    return leastRoom(limits, uses) <= 0;
  }

  /** While a call waits, for one term, no right is granted or extended: else others could delay the call without end. */
  protected isSomeCallWaiting(nowUs: number): boolean {
    return nowUs < this.#lastWaitUs + this.rules.termUs;
  }

  protected isNearLimit({ requestsPerMinute, requestsPerDay }: RequestLimits, uses: Counts): boolean {
    const { nearShare } = this.rules;
    const isNear = (limit: number, count: number): boolean => count >= limit - Math.floor(limit * nearShare);
    return isNear(requestsPerMinute, uses.minute) || isNear(requestsPerDay, uses.day);
  }

  /** The most unused rights that a writer may hold beside the `others` of all other writers. */
  protected maxRights(limits: RequestLimits, uses: Counts, others: number): number {
    return Math.min(maxUnusedRights(this.rules, limits), leastRoom(limits, uses)) - others;
  }

  /** An equal part for each possible writer, so that the first one leaves some for the others. */
  protected rightsPerWriter(limits: RequestLimits): number {
    return Math.ceil(maxUnusedRights(this.rules, limits) / this.rules.maxWriters);
  }

  protected mayHaveRights({ hasTokenLimit }: RequestLimits): boolean {
    return !hasTokenLimit;
  }

  /** Extends the writer's rights by a term and adds some. Returns the ceiling; null when it gets none. */
  #grant(entry: RightsEntry, limits: RequestLimits, uses: Counts, nowUs: number): number | null {
    if (!this.mayHaveRights(limits) || this.isNearLimit(limits, uses)) return null;
    if (this.isOnNewServer(nowUs) || this.isSomeCallWaiting(nowUs)) return null;
    const own = entry.ceiling - entry.used;
    const others = this.countRights(nowUs) - (entry.untilUs > nowUs ? own : 0);
    const most = this.maxRights(limits, uses, others);
    const rights = Math.max(own, Math.min(most, this.rightsPerWriter(limits)));
    if (rights <= 0 || rights > most) return null;
    entry.ceiling = entry.used + rights;
    entry.untilUs = nowUs + this.rules.termUs;
    entry.grantedVersion = entry.version;
    return entry.ceiling;
  }

  #addEntry(writer: string, nowUs: number): RightsEntry | undefined {
    if (this.#entries.size >= this.rules.maxWriters) return undefined;
    const entry = { version: 0, grantedVersion: 0, ceiling: 0, used: 0, untilUs: nowUs, seenUs: -Infinity };
    this.#entries.set(writer, entry);
    return entry;
  }

  /** Drops entries a minute after their term. Rights that were not returned stay counted in the day. */
  #dropPastEntries(nowUs: number): void {
    for (const [writer, { ceiling, used, untilUs }] of this.#entries) {
      if (untilUs + this.rules.minuteUs + this.rules.travelUs > nowUs) continue;
      this.#addToDay(untilUs, ceiling - used);
      this.#entries.delete(writer);
    }
  }

  #addUses(atUs: number, count: number): void {
    if (count === 0) return;
    this.#log.push({ atUs, count });
    this.#addToDay(atUs, count);
  }

  #addToDay(atUs: number, count: number): void {
    if (count === 0) return;
    if (atUs >= this.#day.startUs + this.rules.dayUs) this.#day = { startUs: atUs, count: 0 };
    this.#day.count += count;
  }
}

/** What uses alone leave of the limits. */
function leastRoom({ requestsPerMinute, requestsPerDay }: RequestLimits, { minute, day }: Counts): number {
  return Math.min(requestsPerMinute - minute, requestsPerDay - day);
}
