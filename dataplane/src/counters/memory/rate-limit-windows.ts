/** All rate-limit windows of one agent and provider in memory: sliding RPM window, fixed windows and token windows. */

import { SlidingWindowLog } from '@acg/base/rate-windows/sliding-window-log';
import { TokenUsageWindow } from '@acg/base/rate-windows/token-usage-window';
import type { AgentLimits } from '../../limits/agent-limits.js';
import { FIXED_ROWS, RPM_ROW, TOKEN_ROWS, type WindowLengthsMs, windowLengthUs } from '../../limits/limit-table.js';

interface FixedWindow {
  readonly lengthUs: number;
  startUs: number;
  count: number;
}

export class RateLimitWindows {
  readonly #rpmUs: number;
  readonly #tokenUs: number;
  readonly #rpmLog = new SlidingWindowLog();
  readonly #fixedWindows: readonly FixedWindow[];
  /** Created when the first tokens are added. */
  #tokenWindows: TokenUsageWindow[] | null = null;
  #tokensAddedAtUs = 0;
  #nowUs = 0;
  #rpmCount = 0;

  constructor(windows: WindowLengthsMs) {
    this.#rpmUs = windows.minute * 1000;
    this.#tokenUs = windows.tokenMinute * 1000;
    this.#fixedWindows = FIXED_ROWS.map((row) => ({ lengthUs: windowLengthUs(row, windows), startUs: 0, count: 0 }));
  }

  /**
   * Moves to the given time and resets windows that have ended. Later calls answer as of this time. After a small clock
   * step back the time stays where it was.
   */
  advanceTo(clockUs: number): void {
    this.#nowUs = this.#rpmLog.clampClockOrClearLog(clockUs, this.#rpmUs);
    this.#rpmCount = this.#rpmLog.dropExpiredAndCount(this.#nowUs, this.#rpmUs);
    for (const window of this.#fixedWindows) {
      if (window.startUs > this.#nowUs) window.startUs = this.#nowUs;
      if (this.#nowUs >= window.startUs + window.lengthUs) window.count = 0;
    }
  }

  /** Counts a request in each window that has room: one in audit mode may be full. */
  consumeRequest(limits: Pick<AgentLimits, 'byRow'>): void {
    FIXED_ROWS.forEach((row, i) => {
      const window = this.#fixedWindows[i]!;
      if (window.count === 0) window.startUs = this.#nowUs;
      if (this.remaining(row, limits) > 0) window.count++;
    });
    if (this.remaining(RPM_ROW, limits) === 0) return;
    this.#rpmLog.appendTime(this.#nowUs);
    this.#rpmCount++;
  }

  addTokens(row: number, clockUs: number, tokens: number): void {
    this.#tokenWindows ??= TOKEN_ROWS.map(() => new TokenUsageWindow(this.#tokenUs));
    this.#tokenWindows[TOKEN_ROWS.indexOf(row)]!.addTokens(clockUs, tokens);
    this.#tokensAddedAtUs = clockUs;
  }

  remaining(row: number, { byRow }: Pick<AgentLimits, 'byRow'>): number {
    return Math.max(0, byRow[row]! - this.#usedIn(row));
  }

  /**
   * When the counted requests leave the window, Unix seconds. Null when the count is zero or leaves gradually (tokens).
   */
  resetAtSec(row: number): number | null {
    if (this.#usedIn(row) === 0) return null;
    if (row === RPM_ROW) return ceilToSeconds(this.#rpmLog.timeAt(0) + this.#rpmUs);
    const window = this.#fixedWindows[FIXED_ROWS.indexOf(row)];
    return window === undefined ? null : ceilToSeconds(window.startUs + window.lengthUs);
  }

  /** When a full window admits the next request, Unix seconds. */
  retryAtSec(row: number, { byRow }: Pick<AgentLimits, 'byRow'>): number {
    const limit = byRow[row]!;
    if (row === RPM_ROW) {
      const blockerUs = limit > 0 ? this.#rpmLog.timeAt(this.#rpmCount - limit) : this.#nowUs;
      return ceilToSeconds(blockerUs + this.#rpmUs);
    }
    const window = this.#fixedWindows[FIXED_ROWS.indexOf(row)];
    if (window !== undefined) return ceilToSeconds(window.startUs + window.lengthUs);
    return ceilToSeconds(this.#tokenWindows?.[TOKEN_ROWS.indexOf(row)]?.retryAtUs(limit) ?? 0);
  }

  isExpired(nowUs: number): boolean {
    if (nowUs < this.#tokensAddedAtUs + 2 * this.#tokenUs) return false;
    return this.#fixedWindows.every(({ startUs, lengthUs }) => nowUs >= startUs + lengthUs + this.#rpmUs);
  }

  #usedIn(row: number): number {
    if (row === RPM_ROW) return this.#rpmCount;
    const fixed = this.#fixedWindows[FIXED_ROWS.indexOf(row)];
    if (fixed !== undefined) return fixed.count;
    return this.#tokenWindows?.[TOKEN_ROWS.indexOf(row)]?.tokensUsedAt(this.#nowUs) ?? 0;
  }
}

/** Rounds up, so that the event has happened at the returned second. */
const ceilToSeconds = (us: number): number => Math.ceil(us / 1_000_000);
