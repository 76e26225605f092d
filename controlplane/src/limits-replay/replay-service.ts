/**
 * Replays the recorded calls of agents against other limits (docs/contract.md#replay-of-limits). Reads the records in
 * batches, each a report query of the organization, so memory and the time of a statement do not depend on the range. The
 * number of calls and the time of a replay are bounded; the reply says where it stopped.
 */
import { LimitReplay, type ReplayRejection } from '@acg/base/rate-windows/limit-replay';
import { DAY_MS, HOUR_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { InvalidInput, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/route-access.js';
import { parseTimestamp } from '../http/timestamp-params.js';
import type { QueryConcurrencyLimiter } from '../reports/query/query-concurrency-limiter.js';
import { loadReportedAgents } from '../reports/query/rollup-store.js';
import { formatBucket } from '../reports/query/time-range.js';
import { type ReplayBatchQuery, type ReplayRecord, selectReplayBatch } from './replay-store.js';
import type { LimitReplayInput, LimitReplayReply } from './schema.js';

const RANGE_DAYS_MAX = 92;
const CALLS_MAX = 1_000_000;
const DURATION_MAX_MS = 20_000;
/** Up to this range, the series is by hour. */
const HOURLY_MS_MAX = 7 * DAY_MS;

const NOTES = [
  'Callers would have waited and tried again: the replay does not repeat rejected calls.',
  'Rate limits and budgets are unused at the start of the period.',
  'Calls that the gateway rejected in the period are not recorded, so they are missing.',
  'Budgets are replayed as soft budgets: a record does not say what a hard budget would have reserved.',
  'A budget counts by the model that the call names; the records have the model of the response.',
  'Calls are replayed in the order of their recorded times.',
];

interface Figures {
  rejected: number;
  rejectedNanos: number;
  firstMs: number | null;
}
const noFigures = (): Figures => ({ rejected: 0, rejectedNanos: 0, firstMs: null });

export class ReplayService {
  constructor(
    readonly queryLimiter: QueryConcurrencyLimiter,
    readonly now: () => number = Date.now,
    readonly callsMax = CALLS_MAX,
  ) {}

  async replay(actor: Actor, input: LimitReplayInput): Promise<LimitReplayReply> {
    const { agentIds, limits } = input;
    const [fromMs, toMs] = [parseTimestamp('from', input.from), parseTimestamp('to', input.to)];
    if (fromMs >= toMs) throw new InvalidInput('from must be before to');
    if (toMs - fromMs > RANGE_DAYS_MAX * DAY_MS)
      throw new InvalidInput(`from and to may be at most ${RANGE_DAYS_MAX} days apart`);
    const { rpmLimit = null, rpdLimit = null, tpmLimit = null, budgets = [] } = limits;
    if (rpmLimit === null && rpdLimit === null && tpmLimit === null && budgets.length === 0)
      throw new InvalidInput('limits must have at least one of rpmLimit, rpdLimit, tpmLimit, budgets');
    const known = await loadReportedAgents(this.queryLimiter.sql, actor.orgId, agentIds);
    if (known.length < agentIds.length) throw new NotFound('agent');
    const replay = new LimitReplay({
      rpm: rpmLimit,
      rpd: rpdLimit,
      tpm: tpmLimit,
      budgets: budgets.map(({ window, cents, models = [], tag = '' }) => ({
        window,
        nanos: cents * NANOS_PER_CENT,
        models,
        tag,
      })),
      sharedBudgets: input.sharedBudgets ?? false,
    });
    const totals = new ReplayTotals(agentIds, fromMs, toMs);
    const stoppedAtMs = await this.#readCalls({ orgId: actor.orgId, agentIds, fromMs, toMs }, (record) =>
      totals.add(record, replay.admit(record)),
    );
    return { ...totals.present(), ...presentEnd(stoppedAtMs, toMs), notes: NOTES };
  }

  /** Returns where it stopped, Unix ms; null: it read all calls. */
  async #readCalls(
    query: Omit<ReplayBatchQuery, 'after'>,
    onCall: (record: ReplayRecord) => void,
  ): Promise<number | null> {
    const deadlineMs = this.now() + DURATION_MAX_MS;
    let after: ReplayBatchQuery['after'] = null;
    for (let calls = 0; ; ) {
      const { records, next } = await this.queryLimiter.run(query.orgId, () =>
        selectReplayBatch(this.queryLimiter.sql, { ...query, after }),
      );
      for (const record of records) {
        if (++calls > this.callsMax) return record.startedMs;
        onCall(record);
      }
      if (next === null) return null;
      after = next;
      if (this.now() > deadlineMs) return records.at(-1)!.startedMs;
    }
  }
}

const presentEnd = (stoppedAtMs: number | null, toMs: number) => ({
  complete: stoppedAtMs === null,
  replayedUntil: new Date(stoppedAtMs ?? toMs).toISOString(),
});

class ReplayTotals {
  readonly #all = noFigures();
  #calls = 0;
  #costNanos = 0;
  readonly #byLimit = new Map<ReplayRejection, Figures>();
  readonly #byAgent: ReadonlyMap<string, Figures & { calls: number }>;
  readonly #bucketMs: number;
  readonly #buckets = new Map<number, { calls: number; costNanos: number; rejected: number; rejectedNanos: number }>();

  constructor(
    agentIds: readonly string[],
    readonly fromMs: number,
    readonly toMs: number,
  ) {
    this.#byAgent = new Map(agentIds.map((id) => [id.toLowerCase(), { calls: 0, ...noFigures() }]));
    this.#bucketMs = toMs - fromMs <= HOURLY_MS_MAX ? HOUR_MS : DAY_MS;
  }

  add({ agentId, startedMs, costNanos }: ReplayRecord, rejection: ReplayRejection | null): void {
    this.#calls++;
    this.#costNanos += costNanos;
    const agent = this.#byAgent.get(agentId)!;
    agent.calls++;
    const bucketMs = startedMs - (startedMs % this.#bucketMs);
    const bucket = this.#buckets.get(bucketMs) ?? { calls: 0, costNanos: 0, rejected: 0, rejectedNanos: 0 };
    this.#buckets.set(bucketMs, bucket);
    bucket.calls++;
    bucket.costNanos += costNanos;
    if (rejection === null) return;
    bucket.rejected++;
    bucket.rejectedNanos += costNanos;
    const ofLimit = this.#byLimit.get(rejection) ?? noFigures();
    this.#byLimit.set(rejection, ofLimit);
    for (const figures of [this.#all, agent, ofLimit]) {
      figures.rejected++;
      figures.rejectedNanos += costNanos;
      figures.firstMs ??= startedMs;
    }
  }

  present(): Omit<LimitReplayReply, 'complete' | 'replayedUntil' | 'notes'> {
    const first = this.fromMs - (this.fromMs % this.#bucketMs);
    const count = Math.ceil((this.toMs - first) / this.#bucketMs);
    return {
      from: new Date(this.fromMs).toISOString(),
      to: new Date(this.toMs).toISOString(),
      calls: this.#calls,
      costCents: this.#costNanos / NANOS_PER_CENT,
      ...presentFigures(this.#all),
      limits: [...this.#byLimit].map(([limit, figures]) => ({
        limit: typeof limit === 'number' ? 'budget' : limit,
        budgetIndex: typeof limit === 'number' ? limit : null,
        ...presentFigures(figures),
      })),
      agents: [...this.#byAgent].map(([agentId, { calls, ...figures }]) => ({
        agentId,
        calls,
        ...presentFigures(figures),
      })),
      interval: this.#bucketMs === HOUR_MS ? 'hour' : 'day',
      timeseries: Array.from({ length: count }, (_, i) => {
        const ms = first + i * this.#bucketMs;
        const { calls = 0, costNanos = 0, rejected = 0, rejectedNanos = 0 } = this.#buckets.get(ms) ?? {};
        return {
          bucket: formatBucket(ms),
          calls,
          costCents: costNanos / NANOS_PER_CENT,
          rejected,
          rejectedCents: rejectedNanos / NANOS_PER_CENT,
        };
      }),
    };
  }
}

const presentFigures = ({ rejected, rejectedNanos, firstMs }: Figures) => ({
  rejected,
  rejectedCents: rejectedNanos / NANOS_PER_CENT,
  firstRejectedAt: firstMs === null ? null : new Date(firstMs).toISOString(),
});
