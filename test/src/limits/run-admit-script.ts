/** Runs one batch in a store as RedisNode does, on the store's clock or on one that the test sets. */
import type { AdmissionBatch } from '@acg/dataplane/counters/redis/admission-batch';
import {
  ADMIT_SCRIPT,
  type AdmitReply,
  writeRequestConstants,
} from '@acg/dataplane/counters/redis/script/admit-script';
import { DEFAULT_WINDOW_LENGTHS_MS } from '@acg/dataplane/limits/limit-table';
import type { Redis } from 'ioredis';

/** The same script on a clock that the test sets, for tests over months and with clock steps. */
const SCRIPT_WITH_GIVEN_CLOCK = ADMIT_SCRIPT.replace("call('TIME')", '{ARGV[2], ARGV[3]}');

interface RunOptions {
  /** Unix µs; missing: Redis's own clock. */
  readonly clockUs?: number | undefined;
  readonly constants?: string;
  /** Checks whether the store is writable. */
  readonly probeKey?: string | undefined;
}

/** A request that the store may get at any time, also twice. */
export interface SentBatch {
  readonly batch: AdmissionBatch;
  run(store: Redis, clockUs?: number): Promise<AdmitReply>;
}

/** Closes the batch and writes its request. */
export function sendBatch(batch: AdmissionBatch, options: Omit<RunOptions, 'clockUs'> = {}): SentBatch {
  const { constants = writeRequestConstants(DEFAULT_WINDOW_LENGTHS_MS), probeKey } = options;
  const probe = probeKey === undefined ? '' : `,"probe":${batch.keys.push(probeKey)}`;
  batch.close();
  const request = batch.toJson(constants + probe);
  return {
    batch,
    run: async (store, clockUs) => {
      const clock = clockUs === undefined ? [] : [Math.floor(clockUs / 1e6), clockUs % 1e6];
      const script = clockUs === undefined ? ADMIT_SCRIPT : SCRIPT_WITH_GIVEN_CLOCK;
      return JSON.parse((await store.eval(script, batch.keys.length, ...batch.keys, request, ...clock)) as string);
    },
  };
}

/** Acknowledges the batch's sums as RedisNode does when it receives the reply. */
export function acknowledge({ spends }: AdmissionBatch): void {
  for (const { counter, sentTotalNanos, sentReservations } of spends)
    counter.acknowledge(sentTotalNanos, sentReservations, performance.now());
}

/** Runs the batch; where the store's clock is in other calendar windows, once more as `createBatch` makes it then. */
export async function runBatch(
  store: Redis,
  batch: AdmissionBatch,
  createBatch: (nowSec: number) => AdmissionBatch,
  options: RunOptions = {},
): Promise<{ readonly batch: AdmissionBatch; readonly reply: Required<AdmitReply> }> {
  const { now, spends, checks } = await sendBatch(batch, options).run(store, options.clockUs);
  if (spends !== undefined && checks !== undefined) return { batch, reply: { now, spends, checks } };
  const repeated = createBatch(Math.floor(now / 1e6));
  batch.repeatIn(repeated);
  return await runBatch(store, repeated, createBatch, options);
}
