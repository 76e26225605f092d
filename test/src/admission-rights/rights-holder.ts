/**
 * Holder side of admission rights: what one data plane may admit for one agent at one provider without a message, without
 * I/O. Times are of a monotonic clock, µs. Guarantees: no right is used after the term that began when its message was
 * sent. A failed or late message, a broken connection or new limits end all rights (`endRights`).
 */
import type { RequestLimits, RightsMessage, RightsReply, RightsRules } from './rights-messages.js';

export class RightsHolder {
  #total = 0;
  #confirmed = 0;
  /** Total of the newest message. */
  #stated = 0;
  /** When the first use that no message has stated happened. */
  #unstatedSinceUs = 0;
  #ceiling = 0;
  #deadlineUs = Number.NEGATIVE_INFINITY;
  #version = 0;
  /** Version of the message whose reply granted the present rights. */
  #grantedVersion = 0;
  /** Replies to older messages grant nothing. */
  #voidBelowVersion = 0;
  /** The store may count rights of this holder that the holder does not have any more. */
  #returnAtUs = Number.POSITIVE_INFINITY;

  constructor(
    readonly writer: string,
    protected readonly rules: RightsRules,
  ) {}

  /** Uses one right. Returns false without a right: the store must decide. */
  tryUse(nowUs: number): boolean {
    if (nowUs >= this.#deadlineUs || this.#total >= this.#ceiling) return false;
    if (this.#total++ === this.#stated) this.#unstatedSinceUs = nowUs;
    return true;
  }

  /** Right before the write. False: the process stalled since the decision; the right is unused, the store must decide. */
  confirmUse(decidedAtUs: number, nowUs: number): boolean {
    if (!this.isStalled(decidedAtUs, nowUs)) return true;
    this.#total--;
    return false;
  }

  /** All uses so far. */
  get total(): number {
    return this.#total;
  }

  protected isStalled(decidedAtUs: number, nowUs: number): boolean {
    return nowUs - decidedAtUs >= this.rules.stallUs;
  }

  /** The next message. An admission request returns the rights that are left, so that they do not stand in its way. */
  createMessage(requestCount: number, limits: RequestLimits, nowUs: number): RightsMessage {
    const returnsRights = this.returnsRights(requestCount, nowUs);
    this.#version++;
    if (returnsRights) {
      this.#ceiling = this.#total;
      this.#voidBelowVersion = this.#version;
      this.#returnAtUs = Number.POSITIVE_INFINITY;
    }
    this.#stated = this.#total;
    return {
      writer: this.writer,
      version: this.#version,
      total: this.#total,
      confirmed: this.#confirmed,
      voidBelowVersion: this.#voidBelowVersion,
      requestCount,
      limits,
      sentAtUs: nowUs,
    };
  }

  protected returnsRights(requestCount: number, nowUs: number): boolean {
    const isIdle = requestCount > 0 || nowUs >= this.#deadlineUs;
    return this.#returnAtUs !== Number.POSITIVE_INFINITY || (isIdle && this.#ceiling > this.#total);
  }

  /** Takes the reply to one of its messages. True when its rights are in force now. */
  applyReply({ version, sentAtUs }: RightsMessage, { confirmed, ceiling }: RightsReply, nowUs: number): boolean {
    this.#confirmed = Math.max(this.#confirmed, confirmed);
    if (this.isVoid(version, this.#voidBelowVersion) || version <= this.#grantedVersion) return false;
    if (ceiling === null) {
      if (this.#ceiling > this.#total) this.#returnAtUs = nowUs;
      this.#ceiling = this.#total;
      return false;
    }
    this.#grantedVersion = version;
    this.#ceiling = ceiling;
    this.#deadlineUs = this.deadlineUs(sentAtUs, nowUs);
    this.#returnAtUs = Number.POSITIVE_INFINITY;
    return true;
  }

  /** Whether the reply to a message grants nothing because rights were returned or ended since. */
  protected isVoid(version: number, voidBelowVersion: number): boolean {
    return version < voidBelowVersion;
  }

  /** A decision may be older than its write by a stall, so it must come that much before the end of the term. */
  protected deadlineUs(sentAtUs: number, _repliedAtUs: number): number {
    return sentAtUs + this.rules.termUs - this.rules.stallUs;
  }

  /** A message failed or is late, the connection broke, or limits changed. Replies under way grant nothing either. */
  endRights(nowUs: number): void {
    this.#ceiling = this.#total;
    this.#voidBelowVersion = this.#version + 1;
    this.#stated = this.#confirmed;
    this.#unstatedSinceUs = nowUs;
    this.#returnAtUs = nowUs + this.rules.reportUs;
  }

  /** When the next report is due; infinite when the store knows everything. */
  get reportAtUs(): number {
    const unstatedAtUs =
      this.#total > this.#stated ? this.#unstatedSinceUs + this.rules.reportUs : Number.POSITIVE_INFINITY;
    const unusedAtUs = this.#ceiling > this.#total ? this.#deadlineUs : Number.POSITIVE_INFINITY;
    return Math.min(this.#returnAtUs, unstatedAtUs, unusedAtUs);
  }
}
