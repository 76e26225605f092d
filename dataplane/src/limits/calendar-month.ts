/**
 * Calendar months in UTC as one number, year × 12 + month − 1, which can be compared and packed
 * (docs/contract.md#limits).
 */

const MS_PER_SECOND = 1000;

export function monthOfMs(unixMs: number): number {
  const date = new Date(unixMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** Parses `YYYY-MM`; returns -1 for any other text, which matches no month. */
export function parseMonth(text: string): number {
  if (text.length !== 7 || text.charCodeAt(4) !== 45) return -1;
  const year = Number(text.slice(0, 4));
  const month = Number(text.slice(5));
  return Number.isInteger(year) && Number.isInteger(month) && month >= 1 && month <= 12 ? year * 12 + month - 1 : -1;
}

export function formatMonth(month: number): string {
  return `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
}

/** Like {@link formatMonth}, cached for callers that format the same month repeatedly. */
export class MonthNameCache {
  #month = -1;
  #name = '';

  get(month: number): string {
    if (month !== this.#month) {
      this.#month = month;
      this.#name = formatMonth(month);
    }
    return this.#name;
  }
}

/** Unix seconds of the first moment of the month. */
export function monthStartSec(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1) / MS_PER_SECOND;
}

/** Unix seconds of the first moment after the month. */
export function monthEndSec(month: number): number {
  return monthStartSec(month + 1);
}
