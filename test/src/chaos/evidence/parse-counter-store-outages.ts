/** Intervals in which not every data plane enforced limits, taken from their logs, which record each change once. */
import type { Interval } from './evidence-types.js';

const OUTAGE_MESSAGE = 'counter store unavailable';
const RECOVERY_MESSAGE = 'counter store is back';
/** A data plane may notice the outage only at its timeout, so the outage began earlier. */
const DETECTION_DELAY_MS = 2_000;

interface LogLine {
  readonly pid: number;
  readonly time: number;
  readonly msg: string;
}

/** `output`: everything that one data plane printed, over all its restarts. An exited process admits no calls. */
export function parseStoreOutages(output: string, endedAt: number): Interval[] {
  const gaps: Interval[] = [];
  let away: LogLine | null = null;
  for (const line of parseLogLines(output)) {
    if (away !== null && (line.pid !== away.pid || line.msg.startsWith(RECOVERY_MESSAGE))) {
      gaps.push({ from: away.time - DETECTION_DELAY_MS, to: line.time });
      away = null;
    }
    if (line.msg.startsWith(OUTAGE_MESSAGE)) away ??= line;
  }
  if (away !== null) gaps.push({ from: away.time - DETECTION_DELAY_MS, to: endedAt });
  return gaps;
}

function parseLogLines(output: string): LogLine[] {
  return output.split('\n').flatMap((text) => {
    if (!text.startsWith('{')) return [];
    try {
      const { pid, time, msg = '' } = JSON.parse(text) as { pid: number; time: string; msg?: string };
      return [{ pid, time: Date.parse(time), msg }];
    } catch {
      return []; // truncated when its process was killed
    }
  });
}

/** Sorts the intervals and merges those that overlap. */
export function mergeIntervals(intervals: readonly Interval[]): Interval[] {
  const out: Interval[] = [];
  for (const one of [...intervals].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last === undefined || one.from > last.to) out.push(one);
    else out[out.length - 1] = { from: last.from, to: Math.max(last.to, one.to) };
  }
  return out;
}
