/**
 * Shared by the rollup jobs: one job of a kind runs at a time, each step sees one snapshot, and sketches are compacted.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { LatencySketch } from './latency-sketch.js';
import { NANOS_SUM_MAX } from './usage-field-validation.js';

const ROWS_PER_FETCH = 500;

const SERIALIZATION_FAILURE = '40001';

/**
 * Runs one step of the job in one snapshot. Returns whether there may be more to do: false also if another control
 * plane runs the job.
 *
 * The statement that asks for the lock takes its snapshot first. The previous holder may commit in between. The step
 * then fails with a serialization failure, and the next step sees the new state.
 */
export async function runRollupStepExclusively(
  sql: Sql,
  job: string,
  step: (tx: Tx) => Promise<boolean>,
): Promise<boolean> {
  try {
    return (await sql.begin('isolation level repeatable read', async (tx) => {
      await tx`set local statement_timeout = 0`;
      const [lock] = await tx<{ ours: boolean }[]>`select pg_try_advisory_xact_lock(hashtext(${job})) as ours`;
      return lock!.ours && step(tx);
    })) as boolean;
  } catch (error) {
    if ((error as { code?: string }).code === SERIALIZATION_FAILURE) return true;
    throw error;
  }
}

export const SUM_EXPRESSIONS = `sum(requests) as requests, sum(errors) as errors, sum(tokens_in) as tokens_in,
  sum(tokens_out) as tokens_out, least(sum(cost_nanos), ${NANOS_SUM_MAX}) as cost_nanos, sum(duration_ms_sum) as duration_ms_sum`;
export const SUM_COLUMNS = 'requests, errors, tokens_in, tokens_out, cost_nanos, duration_ms_sum';

/**
 * Inserts the rows of the query, whose last column is a concatenation of sketches, with that column compacted. Reads
 * through a cursor, because a day may have more rows than fit into this process.
 */
export async function insertWithCompactedSketches(
  tx: Tx,
  table: string,
  columns: string,
  query: string,
): Promise<void> {
  await tx.unsafe(`declare sums no scroll cursor for select row_to_json(s)::jsonb - 'latency_sketch' as row,
    latency_sketch as sketch from (${query}) s`);
  for (;;) {
    const rows = await tx.unsafe<{ readonly row: object; readonly sketch: Buffer }[]>(
      `fetch ${ROWS_PER_FETCH} from sums`,
    );
    if (rows.length === 0) break;
    await tx.unsafe(
      `insert into ${table} (${columns}, latency_sketch)
       select ${columns.replaceAll(/\w+/g, 'r.$&')}, s.sketch
         from unnest($1::text::jsonb[], $2::text::bytea[]) as s(row, sketch)
        cross join lateral jsonb_populate_record(null::${table}, s.row) r`,
      [
        arrayLiteral(rows, ({ row }) => JSON.stringify(row)),
        arrayLiteral(rows, ({ sketch }) => `\\x${LatencySketch.decode(sketch).encode().toString('hex')}`),
      ],
    );
  }
  await tx.unsafe('close sums');
}
