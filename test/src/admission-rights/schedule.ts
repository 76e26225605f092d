/** A schedule: everything that a simulation needs beside its code. The same seed gives the same schedule. */
import { SeededRandom } from '../chaos/faults/seeded-random.js';
import { RIGHTS_RULES, type RequestLimits, type RightsRules } from './rights-messages.js';

export interface Network {
  /** One way, µs: at least, and the mean of what comes on top. */
  readonly delayUs: number;
  readonly jitterUs: number;
  /** Probability that a message takes up to `spikeUs` longer. */
  readonly spikeRate: number;
  readonly spikeUs: number;
  readonly lossRate: number;
  readonly repeatRate: number;
}

export type Fault = { readonly atUs: number } & (
  | { readonly kind: 'crash' | 'disconnect'; readonly plane: number; readonly lengthUs: number }
  /** The process stops; `isClockStopped`: its machine with its monotonic clock. */
  | { readonly kind: 'pause'; readonly plane: number; readonly lengthUs: number; readonly isClockStopped: boolean }
  /** A replica without the last `lostUs` of writes takes over after an outage; infinite: an empty server does. */
  | { readonly kind: 'failover'; readonly lengthUs: number; readonly lostUs: number }
  | { readonly kind: 'flush' }
  | { readonly kind: 'new limits'; readonly limits: RequestLimits }
);

export interface Schedule {
  readonly seed: number;
  readonly rules: RightsRules;
  readonly limits: RequestLimits;
  /** Calls arrive for so long, µs. */
  readonly durationUs: number;
  /** Mean rate of arrivals at each data plane. */
  readonly callsPerSecond: readonly number[];
  /** Most calls that arrive at once. */
  readonly burst: number;
  /** Calls arrive only in every second interval of this length; infinite: all the time. */
  readonly idleUs: number;
  readonly network: Network;
  readonly timeoutUs: number;
  readonly faults: readonly Fault[];
  /** Probability that a process stops between the decision on a right and the check before the write, for up to a minute. */
  readonly stallRate: number;
  /** Probability that a process stops between that check and the write. */
  readonly preemptionRate: number;
  /** Probability that a process crashes when it has written in the last tenth of a right's term, or later. */
  readonly lateCrashRate: number;
}

/** No loss, no repetition, no spikes. */
export const CALM_NETWORK: Network = {
  delayUs: 100,
  jitterUs: 1_000,
  spikeRate: 0,
  spikeUs: 0,
  lossRate: 0,
  repeatRate: 0,
};

const UNLIMITED = 1_000_000_000;

/** Draws a schedule. One in five has no faults. Windows are short, so that a schedule sees several of them. */
export function drawSchedule(seed: number): Schedule {
  const random = new SeededRandom(seed);
  const maybe = (rate: number): boolean => random.next() < rate;
  const upTo = (max: number): number => Math.floor(random.next() * max);
  /** Between a fiftieth of `max` and `max`, short ones more often. */
  const lengthUpTo = (max: number): number => Math.floor(max * 50 ** -random.next());

  const minuteUs = random.pick([600_000, 1_000_000, 1_000_000, 2_000_000, 4_000_000, RIGHTS_RULES.minuteUs]);
  const minuteShare = random.pick([0.1, 0.2, 0.3]);
  const requestsPerMinute = random.integerBetween(10, 60);
  const hasDay = maybe(0.4);
  const rules: RightsRules = {
    ...RIGHTS_RULES,
    minuteUs,
    dayUs: hasDay ? Math.floor(minuteUs * (1.2 + 2 * random.next())) : RIGHTS_RULES.dayUs,
    minuteShare,
    dayShare: minuteShare,
    nearShare: minuteShare,
    maxWriters: random.pick([2, 8]),
  };
  const requestsPerDay = hasDay ? Math.floor(requestsPerMinute * (1 + random.next())) : UNLIMITED;
  const limits: RequestLimits = { requestsPerMinute, requestsPerDay, hasTokenLimit: maybe(0.02) };
  const planes = random.integerBetween(1, 5);
  const durationUs = Math.floor(minuteUs * (2 + 2 * random.next()));
  const total = (requestsPerMinute / minuteUs) * 1e6 * (0.3 + 1.7 * random.next());
  const weights = Array.from({ length: planes }, () => 0.1 + random.next());
  const sum = weights.reduce((a, b) => a + b, 0);
  const common = {
    seed,
    rules,
    limits,
    durationUs,
    callsPerSecond: weights.map((weight) => (total * weight) / sum),
    burst: random.pick([1, 1, 3, 10]),
    idleUs: maybe(0.5) ? Number.POSITIVE_INFINITY : lengthUpTo(minuteUs),
    timeoutUs: random.pick([50_000, 200_000, 1_000_000]),
  };
  if (maybe(0.2)) {
    return { ...common, network: CALM_NETWORK, faults: [], stallRate: 0, preemptionRate: 0, lateCrashRate: 0 };
  }

  const network: Network = {
    delayUs: upTo(5_000),
    jitterUs: lengthUpTo(20_000),
    spikeRate: maybe(0.5) ? 0.2 * random.next() : 0,
    spikeUs: 1_000_000,
    lossRate: maybe(0.5) ? 0.2 * random.next() : 0,
    repeatRate: maybe(0.5) ? 0.1 * random.next() : 0,
  };
  const faults: Fault[] = [];
  const add = (most: number, fault: (atUs: number, plane: number) => Fault): void => {
    if (maybe(0.6)) return;
    const count = random.integerBetween(1, most);
    for (let i = 0; i < count; i++) faults.push(fault(upTo(durationUs), upTo(planes)));
  };
  add(4, (atUs, plane) => ({ kind: 'crash', atUs, plane, lengthUs: lengthUpTo(minuteUs) }));
  add(3, (atUs, plane) => ({ kind: 'disconnect', atUs, plane, lengthUs: lengthUpTo(300_000) }));
  add(4, (atUs, plane) => ({ kind: 'pause', atUs, plane, lengthUs: lengthUpTo(2 * minuteUs), isClockStopped: false }));
  add(2, (atUs, plane) => ({ kind: 'pause', atUs, plane, lengthUs: lengthUpTo(2 * minuteUs), isClockStopped: true }));
  add(2, (atUs) => ({ kind: 'failover', atUs, lengthUs: lengthUpTo(300_000), lostUs: lengthUpTo(1_000_000) }));
  if (maybe(0.1)) faults.push({ kind: 'failover', atUs: upTo(durationUs), lengthUs: 0, lostUs: Infinity });
  if (maybe(0.15)) faults.push({ kind: 'flush', atUs: upTo(durationUs) });
  if (maybe(0.2)) {
    const changed = { ...limits, requestsPerMinute: random.integerBetween(10, 60), hasTokenLimit: maybe(0.2) };
    faults.push({ kind: 'new limits', atUs: upTo(durationUs), limits: changed });
  }
  return {
    ...common,
    network,
    faults,
    stallRate: maybe(0.4) ? 0.05 * random.next() : 0,
    preemptionRate: maybe(0.2) ? 0.02 * random.next() : 0,
    lateCrashRate: maybe(0.3) ? 0.5 : 0,
  };
}
