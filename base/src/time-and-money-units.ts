/** Durations in milliseconds, and money. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** A nano-dollar is 1e-9 USD. */
export const NANOS_PER_CENT = 10_000_000;
