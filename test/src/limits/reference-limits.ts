/** Reference model of the limits (docs/contract.md#limits): keeps every admission and counts them for each reply. */
import { calendarWindowAt } from '@acg/dataplane/limits/calendar-window';

interface ModelRequest {
  readonly pair: string;
  readonly rpmLimit: number;
  readonly rpdLimit: number;
  readonly budgetNanos: number | null;
}

interface ModelAdmission {
  readonly outcome: 'admitted' | 'rpm' | 'rpd' | 'budget';
  readonly rpmRemaining: number;
  readonly rpmResetAtSec: number;
  readonly retryAtSec: number;
}

const monthAt = (nowUs: number) => calendarWindowAt('month', nowUs / 1e6);
const ceilToSeconds = (us: number): number => Math.ceil(us / 1_000_000);

export class ReferenceLimits {
  /** Times of all admissions, Unix µs. */
  readonly #admissions = new Map<string, number[]>();
  readonly #days = new Map<string, { startUs: number; count: number }>();
  /** By name of the month. */
  readonly #spend = new Map<string, number>();

  constructor(
    readonly rpmUs: number,
    readonly rpdUs: number,
  ) {}

  addSpend(nowUs: number, nanos: number): void {
    this.#spend.set(monthAt(nowUs).name, this.spentNanos(nowUs) + nanos);
  }

  spentNanos(nowUs: number): number {
    return this.#spend.get(monthAt(nowUs).name) ?? 0;
  }

  /** Admissions of the pair that count at `nowUs`, the oldest first. */
  admissionsInWindow(pair: string, nowUs: number): readonly number[] {
    return (this.#admissions.get(pair) ?? []).filter((at) => at > nowUs - this.rpmUs);
  }

  dayCount(pair: string, nowUs: number): number {
    const day = this.#days.get(pair);
    return day === undefined || nowUs >= day.startUs + this.rpdUs ? 0 : day.count;
  }

  admit(nowUs: number, request: ModelRequest): ModelAdmission {
    const { pair, rpmLimit, rpdLimit, budgetNanos } = request;
    const live = this.admissionsInWindow(pair, nowUs);
    const today = this.dayCount(pair, nowUs);
    const left = Math.max(0, rpmLimit - live.length);
    const rpmResetAtSec = live.length === 0 ? 0 : ceilToSeconds(live[0]! + this.rpmUs);
    if (live.length >= rpmLimit) {
      const passes = live[live.length - rpmLimit]! + this.rpmUs;
      return { outcome: 'rpm', rpmRemaining: 0, rpmResetAtSec, retryAtSec: ceilToSeconds(passes) };
    }
    if (today >= rpdLimit) {
      const retryAtSec = ceilToSeconds(this.#days.get(pair)!.startUs + this.rpdUs);
      return { outcome: 'rpd', rpmRemaining: left, rpmResetAtSec, retryAtSec };
    }
    if (budgetNanos !== null && this.spentNanos(nowUs) >= budgetNanos) {
      const retryAtSec = monthAt(nowUs).endSec;
      return { outcome: 'budget', rpmRemaining: left, rpmResetAtSec, retryAtSec };
    }
    this.#admissions.set(pair, [...(this.#admissions.get(pair) ?? []), nowUs]);
    this.#days.set(pair, today === 0 ? { startUs: nowUs, count: 1 } : { ...this.#days.get(pair)!, count: today + 1 });
    const first = ceilToSeconds((live[0] ?? nowUs) + this.rpmUs);
    return { outcome: 'admitted', rpmRemaining: left - 1, rpmResetAtSec: first, retryAtSec: 0 };
  }
}
