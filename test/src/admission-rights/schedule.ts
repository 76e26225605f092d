/** A schedule: everything that a simulation needs beside its code. The same seed gives the same schedule. */
import { SeededRandom } from '../chaos/faults/seeded-random.js';
import { type RequestLimits, RIGHTS_RULES, type RightsRules } from './rights-messages.js';

interface Network {
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
  /**
   * Probability of events at the worst time: a call at the end of a right's term, a crash after a use, and bursts when the
   * store may have forgotten a use.
   */
  readonly hostileEventRate: number;
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

/** Draws a schedule of one of six kinds, two of them without faults. Windows are short, so that a schedule sees several of them. */
export function drawSchedule(seed: number): Schedule {
  const random = new SeededRandom(seed);
  const load = drawLoad(seed, random);
  switch (random.integerBetween(0, 5)) {
    case 0:
      return { ...load, ...CALM };
    case 1:
      return { ...load, ...drawLateReplies(random, load.limits) };
    case 2:
      return { ...load, ...drawFailovers(random, load.durationUs) };
    case 3:
      return { ...load, ...drawContention(random, load.limits) };
    default:
      return { ...load, ...drawFaults(random, load) };
  }
}

type Load = Pick<
  Schedule,
  'seed' | 'rules' | 'limits' | 'durationUs' | 'callsPerSecond' | 'burst' | 'idleUs' | 'timeoutUs'
>;

const maybe = (random: SeededRandom, rate: number): boolean => random.next() < rate;
/** Between a fiftieth of `max` and `max`, short ones more often. */
const lengthUpTo = (random: SeededRandom, max: number): number => Math.floor(max * 50 ** -random.next());

/** Limits, and calls for a third of them up to twice as many. */
function drawLoad(seed: number, random: SeededRandom): Load {
  const minuteUs = random.pick([1_000_000, 1_000_000, 2_000_000, 4_000_000, RIGHTS_RULES.minuteUs]);
  const minuteShare = random.pick([0.1, 0.2, 0.3]);
  const requestsPerMinute = random.integerBetween(10, 60);
  const hasDay = maybe(random, 0.4);
  const total = (requestsPerMinute / minuteUs) * 1_000_000 * (0.3 + 1.7 * random.next());
  // Some data planes get few calls.
  const weights = Array.from({ length: random.integerBetween(1, 5) }, () => 0.03 + random.next() ** 2);
  const sum = weights.reduce((a, b) => a + b, 0);
  return {
    seed,
    rules: {
      ...RIGHTS_RULES,
      minuteUs,
      dayUs: hasDay ? Math.floor(minuteUs * (1.2 + 2 * random.next())) : RIGHTS_RULES.dayUs,
      minuteShare,
      dayShare: minuteShare,
      nearShare: minuteShare,
      maxWriters: random.pick([2, 8, 8]),
    },
    limits: {
      requestsPerMinute,
      requestsPerDay: hasDay ? Math.floor(requestsPerMinute * (1 + random.next())) : UNLIMITED,
      hasTokenLimit: maybe(random, 0.02),
    },
    durationUs: Math.floor(minuteUs * (2 + 2 * random.next())),
    callsPerSecond: weights.map((weight) => (total * weight) / sum),
    burst: random.pick([1, 1, 3, 10]),
    idleUs: maybe(random, 0.5) ? Number.POSITIVE_INFINITY : lengthUpTo(random, minuteUs),
    timeoutUs: random.pick([50_000, 200_000, 1_000_000]),
  };
}

type Faults = Partial<Load> & Omit<Schedule, keyof Load>;

const CALM: Faults = { network: CALM_NETWORK, faults: [], stallRate: 0, preemptionRate: 0, hostileEventRate: 0 };

/** Data planes with bursts of calls compete for what expires of a short window, so that calls wait. */
function drawContention(random: SeededRandom, limits: RequestLimits): Faults {
  const load = limits.requestsPerMinute * (0.5 + random.next());
  return {
    ...CALM,
    rules: { ...RIGHTS_RULES, minuteUs: 1_000_000 },
    limits: { ...limits, requestsPerDay: UNLIMITED },
    durationUs: 4_000_000,
    callsPerSecond: [load / 5, load / 5, load / 5, load / 5, load / 5],
    burst: 10,
  };
}

/** Replies come when the term is nearly over, processes stall, and crash after their last use. */
function drawLateReplies(random: SeededRandom, limits: RequestLimits): Faults {
  const spareUs = random.pick([2_000_000, 4_000_000]);
  const saturating = (limits.requestsPerMinute / spareUs) * 2_000_000;
  return {
    ...CALM,
    rules: { ...RIGHTS_RULES, minuteUs: spareUs, minuteShare: 0.3, dayShare: 0.3, nearShare: 0.3 },
    limits: { ...limits, requestsPerDay: UNLIMITED, hasTokenLimit: false },
    durationUs: 4 * spareUs,
    callsPerSecond: [2, saturating],
    burst: 1,
    // The data plane with many calls fills the window, and leaves it empty for the other one's rights.
    idleUs: Math.floor(spareUs * (0.6 + 0.4 * random.next())),
    timeoutUs: 1_000_000,
    network: { ...CALM_NETWORK, spikeRate: 0.5 * random.next(), spikeUs: 400_000 },
    stallRate: maybe(random, 0.5) ? 0.3 * random.next() : 0,
    hostileEventRate: 0.9,
  };
}

/** Failovers that lose little, with bursts on the new server. */
function drawFailovers(random: SeededRandom, durationUs: number): Faults {
  const failover = (): Fault => ({
    kind: 'failover',
    atUs: Math.floor(random.next() * durationUs),
    lengthUs: lengthUpTo(random, 100_000),
    lostUs: random.pick([50_000, 300_000, Number.POSITIVE_INFINITY]),
  });
  return {
    ...CALM,
    faults: Array.from({ length: random.integerBetween(1, 3) }, failover),
    hostileEventRate: random.next(),
  };
}

/** Any faults in any number. */
function drawFaults(random: SeededRandom, { rules, limits, durationUs, callsPerSecond }: Load): Faults {
  const { minuteUs } = rules;
  const upTo = (max: number): number => Math.floor(random.next() * max);
  const lengthTo = (max: number): number => lengthUpTo(random, max);
  const faults: Fault[] = [];
  const add = (rate: number, most: number, draw: (atUs: number, plane: number) => Fault): void => {
    if (!maybe(random, rate)) return;
    const count = random.integerBetween(1, most);
    for (let i = 0; i < count; i++) faults.push(draw(upTo(durationUs), upTo(callsPerSecond.length)));
  };
  add(0.4, 4, (atUs, plane) => ({ kind: 'crash', atUs, plane, lengthUs: lengthTo(minuteUs) }));
  add(0.4, 3, (atUs, plane) => ({ kind: 'disconnect', atUs, plane, lengthUs: lengthTo(300_000) }));
  add(0.4, 4, (atUs, plane) => ({
    kind: 'pause',
    atUs,
    plane,
    lengthUs: lengthTo(2 * minuteUs),
    isClockStopped: false,
  }));
  add(0.4, 2, (atUs, plane) => ({
    kind: 'pause',
    atUs,
    plane,
    lengthUs: lengthTo(2 * minuteUs),
    isClockStopped: true,
  }));
  add(0.4, 2, (atUs) => ({ kind: 'failover', atUs, lengthUs: lengthTo(300_000), lostUs: lengthTo(1_000_000) }));
  add(0.1, 1, (atUs) => ({ kind: 'failover', atUs, lengthUs: 0, lostUs: Number.POSITIVE_INFINITY }));
  add(0.15, 1, (atUs) => ({ kind: 'flush', atUs }));
  add(0.2, 2, (atUs) => ({
    kind: 'new limits',
    atUs,
    limits: { ...limits, requestsPerMinute: random.integerBetween(10, 60), hasTokenLimit: maybe(random, 0.2) },
  }));
  const sometimes = (rate: number, most: number): number => (maybe(random, rate) ? most * random.next() : 0);
  return {
    network: {
      delayUs: upTo(5_000),
      jitterUs: lengthTo(20_000),
      spikeRate: sometimes(0.5, 0.2),
      spikeUs: 1_000_000,
      lossRate: sometimes(0.5, 0.2),
      repeatRate: sometimes(0.5, 0.1),
    },
    faults,
    stallRate: sometimes(0.4, 0.05),
    preemptionRate: sometimes(0.2, 0.02),
    hostileEventRate: sometimes(0.5, 0.5),
  };
}
