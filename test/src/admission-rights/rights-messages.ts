/** Messages between a data plane and the counter store about the admission rights of one agent at one provider. */

/** Constants of the rules. Times in µs. */
export interface RightsRules {
  /** Length of the sliding window. */
  readonly minuteUs: number;
  /** Length of the fixed window, which begins with its first use. */
  readonly dayUs: number;
  /** The store keeps uses longer than the minute by this, because travel times to the provider differ. */
  readonly travelUs: number;
  /** Rights end this long after the store granted them. */
  readonly termUs: number;
  /** A data plane that was stalled for this long between decision and write does not use its rights. */
  readonly stallUs: number;
  /** A holder states its uses this long after the first one that the store does not know. Waiting calls are sent again after it. */
  readonly reportUs: number;
  /** Bounds of the unused rights of all writers, as fractions of the two limits. */
  readonly minuteShare: number;
  readonly dayShare: number;
  /** No rights are granted while less than this fraction of a limit is free. */
  readonly nearShare: number;
  /** Most writers that have an entry at a time. */
  readonly maxWriters: number;
}

export const RIGHTS_RULES: RightsRules = {
  minuteUs: 60_000_000,
  dayUs: 86_400_000_000,
  travelUs: 30_000,
  termUs: 500_000,
  stallUs: 50_000,
  reportUs: 20_000,
  minuteShare: 0.1,
  dayShare: 0.01,
  nearShare: 0.1,
  maxWriters: 8,
};

export interface RequestLimits {
  readonly requestsPerMinute: number;
  readonly requestsPerDay: number;
  /** Pairs with a limit of tokens get no rights. */
  readonly hasTokenLimit: boolean;
}

/** An admission request (`requestCount` > 0) or a report (0). */
export interface RightsMessage {
  /** One holder in one run of a data plane. Never reused. */
  readonly writer: string;
  /** Rises with each message of the writer. */
  readonly version: number;
  /** All uses of rights by this writer so far. */
  readonly total: number;
  /** The part of `total` that some reply confirmed. */
  readonly confirmed: number;
  /** The writer has no rights from grants to messages below this version any more. */
  readonly voidBelowVersion: number;
  readonly requestCount: number;
  readonly limits: RequestLimits;
  /** Monotonic clock of the sender, µs. */
  readonly sentAtUs: number;
}

export interface RightsReply {
  /** The first requests of the message, in order of arrival. */
  readonly admittedCount: number;
  /** Outcome of the other requests. `wait`: uses and unused rights fill a limit, uses alone do not; send the call again. */
  readonly otherOutcome: 'rejected' | 'wait';
  /** The writer's total that the store has counted. */
  readonly confirmed: number;
  /** The writer may raise its total up to this within the term. Null: it has no rights any more. */
  readonly ceiling: number | null;
}

/** A report of a writer that returned its rights because it did not need them: it gets none. */
export function isIdleReport({ requestCount, version, voidBelowVersion }: RightsMessage): boolean {
  return requestCount === 0 && version === voidBelowVersion;
}

/** Bound of the unused rights of all writers of a pair. */
export function maxUnusedRights(rules: RightsRules, limits: RequestLimits): number {
  const { requestsPerMinute, requestsPerDay } = limits;
  return Math.floor(Math.min(requestsPerMinute * rules.minuteShare, requestsPerDay * rules.dayShare));
}
