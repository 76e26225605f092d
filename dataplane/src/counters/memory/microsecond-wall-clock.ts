/**
 * Wall clock with microsecond resolution: the monotonic clock plus an anchor. The anchor is set again when the system
 * clock differs by more than 5 ms.
 */
const DRIFT_MAX_MS = 5;

/** Unix time in µs. */
export type ClockUs = () => number;

export function createMicrosecondWallClock(): ClockUs {
  let anchorMs = Date.now() - performance.now();
  return () => {
    const monotonicMs = performance.now();
    const systemMs = Date.now();
    if (Math.abs(anchorMs + monotonicMs - systemMs) > DRIFT_MAX_MS) anchorMs = systemMs - monotonicMs;
    return Math.round((anchorMs + monotonicMs) * 1000);
  };
}
