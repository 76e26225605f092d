/** Wall clock with microseconds: the monotonic clock on an anchor that follows the system's when they part. */
const DRIFT_MAX_MS = 5;

/** Unix time in µs. */
export type ClockUs = () => number;

export function createWallClock(): ClockUs {
  let anchorMs = Date.now() - performance.now();
  return () => {
    const monotonicMs = performance.now();
    const systemMs = Date.now();
    if (Math.abs(anchorMs + monotonicMs - systemMs) > DRIFT_MAX_MS) anchorMs = systemMs - monotonicMs;
    return Math.round((anchorMs + monotonicMs) * 1000);
  };
}
