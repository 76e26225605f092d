/**
 * Reference model of what counts as a use, by rules 2 and 5: keeps every use and sums them up for each question. It sees
 * the messages and replies of the store and nothing of its state.
 */
import type { Decision } from './decision-history.js';
import type { RightsRules } from './rights-messages.js';

interface WriterRights {
  grantedVersion: number;
  stated: number;
  ceiling: number;
  untilUs: number;
}

export class ReferenceUses {
  readonly #uses: { readonly atUs: number; readonly count: number }[] = [];
  /** Also rights that were never returned. */
  readonly #dayUses: { readonly atUs: number; readonly count: number }[] = [];
  readonly #writers = new Map<string, WriterRights>();
  /** Starts of all days so far. */
  readonly dayStartsUs: number[] = [];

  constructor(readonly rules: RightsRules) {}

  /** Takes the message of a decision, before its own admissions. Returns the total from which on it counts uses. */
  applyMessage({ atUs, message }: Decision): number {
    for (const [name, { ceiling, stated, untilUs }] of this.#writers) {
      if (untilUs + this.rules.minuteUs + this.rules.travelUs > atUs) continue;
      this.#addDayUses(untilUs, ceiling - stated);
      this.#writers.delete(name);
    }
    let writer = this.#writers.get(message.writer);
    const countedTotal = writer?.stated ?? message.confirmed;
    this.#addUses(atUs, Math.max(0, message.total - countedTotal));
    if (writer === undefined) {
      if (this.#writers.size >= this.rules.maxWriters) return countedTotal;
      writer = { grantedVersion: 0, stated: 0, ceiling: 0, untilUs: atUs };
      this.#writers.set(message.writer, writer);
    }
    writer.stated = Math.max(writer.stated, message.total);
    writer.ceiling = Math.max(writer.ceiling, writer.stated);
    if (writer.grantedVersion < message.voidBelowVersion) writer.ceiling = writer.stated;
    return countedTotal;
  }

  applyReply({ atUs, message, reply }: Decision): void {
    this.#addUses(atUs, reply.admittedCount);
    const writer = this.#writers.get(message.writer);
    if (reply.ceiling === null || writer === undefined) return;
    writer.ceiling = reply.ceiling;
    writer.grantedVersion = message.version;
    writer.untilUs = atUs + this.rules.termUs;
  }

  /** Expired rights that were not returned. */
  unreturned(nowUs: number): number {
    let sum = 0;
    for (const { ceiling, stated, untilUs } of this.#writers.values()) if (untilUs <= nowUs) sum += ceiling - stated;
    return sum;
  }

  minute(nowUs: number): number {
    let sum = this.unreturned(nowUs);
    for (const { atUs, count } of this.#uses)
      if (atUs + this.rules.minuteUs + this.rules.travelUs > nowUs) sum += count;
    return sum;
  }

  day(nowUs: number): number {
    const startUs = this.dayStartsUs.at(-1);
    let sum = this.unreturned(nowUs);
    if (startUs === undefined || nowUs >= startUs + this.rules.dayUs) return sum;
    for (const { atUs, count } of this.#dayUses) if (atUs >= startUs) sum += count;
    return sum;
  }

  #addUses(atUs: number, count: number): void {
    if (count === 0) return;
    this.#uses.push({ atUs, count });
    this.#addDayUses(atUs, count);
  }

  #addDayUses(atUs: number, count: number): void {
    if (count === 0) return;
    const startUs = this.dayStartsUs.at(-1) ?? Number.NEGATIVE_INFINITY;
    if (atUs >= startUs + this.rules.dayUs) this.dayStartsUs.push(atUs);
    this.#dayUses.push({ atUs: Math.max(atUs, startUs), count });
  }
}
