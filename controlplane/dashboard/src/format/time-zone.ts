/**
 * The zone of every time on the screens: the browser's or UTC, chosen once for a browser. Addresses, the API and exports
 * hold instants in UTC whatever is chosen. Days of reports and budgets are UTC days, because the gateway counts them so.
 */
export type TimeZoneChoice = 'local' | 'utc';

/** How browsers write the offset 0. */
const ZERO_OFFSET = /^(?:GMT|UTC)(?:[+-]0)?$/;
const STORAGE_KEY = 'acg-time-zone';
const listeners = new Set<() => void>();
let chosen: TimeZoneChoice | null = null;

/** Private windows may have no storage; then the choice lasts as long as the page. */
function readStored(): TimeZoneChoice {
  try {
    return localStorage.getItem(STORAGE_KEY) === 'utc' ? 'utc' : 'local';
  } catch {
    return 'local';
  }
}

export function timeZoneChoice(): TimeZoneChoice {
  chosen ??= readStored();
  return chosen;
}

export function chooseTimeZone(choice: TimeZoneChoice): void {
  chosen = choice;
  try {
    localStorage.setItem(STORAGE_KEY, choice);
  } catch {
    // The choice lasts as long as the page.
  }
  for (const listener of listeners) listener();
}

export function onTimeZoneChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For `Intl.DateTimeFormat`; undefined: the browser's zone. */
export const chosenTimeZone = (): 'UTC' | undefined => (timeZoneChoice() === 'utc' ? 'UTC' : undefined);

/** The name of the zone of the browser, e.g. `Europe/Berlin`. */
export const browserTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Of the browser's zone; created on first use. */
let offsetFormatter: Intl.DateTimeFormat | null = null;
/** Zones change their offset at full quarters of an hour only. */
const QUARTER_MS = 15 * 60_000;
/** Of the previous call: the times of a list are close to each other. */
let latest = { quarter: Number.NaN, unit: '' };

/** The unit beside times: `UTC`, or the offset of the browser's zone at that time, e.g. `GMT+1`. NaN: now. */
export function timeZoneUnit(atMs: number): string {
  if (chosenTimeZone() !== undefined) return 'UTC';
  const ms = Number.isNaN(atMs) ? Date.now() : atMs;
  const quarter = Math.floor(ms / QUARTER_MS);
  if (quarter !== latest.quarter) {
    offsetFormatter ??= new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' });
    const name = offsetFormatter.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
    latest = { quarter, unit: ZERO_OFFSET.test(name) ? 'UTC' : name };
  }
  return latest.unit;
}
