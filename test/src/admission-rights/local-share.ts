/** Estimates how many calls are decided on rights, without a message to the store, for an agent with a steady load. */
import { RIGHTS_RULES } from './rights-messages.js';
import { CALM_NETWORK, type Schedule } from './schedule.js';
import { simulate } from './simulation.js';

const DURATION_US = 600_000_000;
/** The agent uses half of its limits. */
const LIMIT_PER_RATE = 2;

interface LocalShare {
  /** Fraction of the calls that needed no message. */
  readonly local: number;
  /** Messages to the store per call: with rights, admissions and reports. Without them it is 1. */
  readonly messagesPerCall: number;
  /** Time until the decision, µs. */
  readonly p50Us: number;
  readonly p99Us: number;
}

/** Calls arrive at random, evenly spread over the data planes. `roundTripUs`: to the store and back. */
export function estimateLocalShare(callsPerSecond: number, planes: number, roundTripUs: number): LocalShare {
  const schedule: Schedule = {
    seed: 1,
    rules: RIGHTS_RULES,
    limits: {
      requestsPerMinute: callsPerSecond * 60 * LIMIT_PER_RATE,
      requestsPerDay: callsPerSecond * 86_400 * LIMIT_PER_RATE,
      hasTokenLimit: false,
    },
    durationUs: DURATION_US,
    callsPerSecond: Array.from({ length: planes }, () => callsPerSecond / planes),
    burst: 1,
    idleUs: Number.POSITIVE_INFINITY,
    network: { ...CALM_NETWORK, delayUs: roundTripUs / 2, jitterUs: 0 },
    timeoutUs: 50_000,
    faults: [],
    stallRate: 0,
    preemptionRate: 0,
    hostileEventRate: 0,
  };
  const { providerCalls, decisions } = simulate(schedule);
  const delays = providerCalls
    .map(({ arrivedAtUs, writtenAtUs }) => writtenAtUs - arrivedAtUs)
    .sort((one, other) => one - other);
  const quantile = (part: number): number => delays[Math.floor(delays.length * part)]!;
  return {
    local: providerCalls.filter(({ right }) => right !== null).length / providerCalls.length,
    messagesPerCall: decisions.length / providerCalls.length,
    p50Us: quantile(0.5),
    p99Us: quantile(0.99),
  };
}
