/**
 * Result files as the ledger remembers them. A line of one is in `booked_lines` for ever while its file is open, and in
 * `booked_files` there is one row for the file. {@link FILE_OPEN_DAYS} after the last new line the file is closed: its lines
 * are deleted, and whatever is fetched of it later books nothing. Anthropic keeps results for 29 days
 * (https://docs.anthropic.com/en/docs/build-with-claude/batch-processing), so nothing is booked for the first time then.
 *
 * A booking holds the file's row until its commit, and so does closing: no line is claimed while its file is being closed.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { ReservedConnection } from '../db/reserved-connection.js';
import type { Sql, Tx } from '../db/sql.js';

const FILE_OPEN_DAYS = 60;
/** `last_at` is at most so much too old, which saves a write for each batch of lines. */
const LAST_AT_LAG = '1 hour';
const FILES_PER_SWEEP = 1_000;
const INDEX = 'booked_lines_source';

/** A file of an organization. */
export interface ResultFile {
  readonly orgId: string;
  /** Digest of provider and file, hex. */
  readonly source: string;
}

export const resultFileKey = ({ orgId, source }: ResultFile): string => `${orgId} ${source}`;

const keyArrays = (files: readonly ResultFile[]) =>
  [arrayLiteral(files, ({ orgId }) => orgId), arrayLiteral(files, ({ source }) => `\\x${source}`)] as const;

/** Locks the rows of these files (each once) until the transaction ends; returns the keys of those that are closed. */
export async function lockResultFiles(tx: Tx, files: readonly ResultFile[]): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const [orgs, sources] = keyArrays(files);
  await tx`
    insert into booked_files (org_id, source)
    select * from unnest(${orgs}::text::uuid[], ${sources}::text::bytea[]) as r(org_id, source) order by org_id, source
    on conflict do nothing`;
  const rows = await tx<(ResultFile & { readonly closed: boolean })[]>`
    select org_id as "orgId", encode(source, 'hex') as source, closed from booked_files
      join unnest(${orgs}::text::uuid[], ${sources}::text::bytea[]) as r(org_id, source) using (org_id, source)
     order by org_id, source for no key update of booked_files`;
  return new Set(rows.filter(({ closed }) => closed).map(resultFileKey));
}

/** New lines of these files, whose rows the transaction holds, were booked. */
export async function touchResultFiles(tx: Tx, files: readonly ResultFile[]): Promise<void> {
  if (files.length === 0) return;
  const [orgs, sources] = keyArrays(files);
  await tx`
    update booked_files f set last_at = now()
      from unnest(${orgs}::text::uuid[], ${sources}::text::bytea[]) as r(org_id, source)
     where f.org_id = r.org_id and f.source = r.source and f.last_at < now() - ${LAST_AT_LAG}::text::interval`;
}

/**
 * Makes the index by which a file's lines are found, where it is missing. Bookings go on meanwhile. `run` waits for a
 * statement that may take long, so that the end of the process can cancel it.
 */
export async function createDeferredUsageIndex(
  connection: ReservedConnection,
  run: (query: ReturnType<ReservedConnection['unsafe']>) => Promise<void>,
): Promise<void> {
  const [found] = await connection<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${INDEX})`;
  if (found?.valid === true) return;
  if (found !== undefined) await connection.unsafe(`drop index concurrently ${INDEX}`); // of an interrupted attempt
  await run(
    connection.unsafe(`create index concurrently ${INDEX} on booked_lines (org_id, source) where source is not null`),
  );
}

/** Closes files whose last new line is old enough, each in a transaction of its own; the rest at the next sweep. */
export async function closeOldResultFiles(sql: Sql, isStopped: () => boolean): Promise<void> {
  for (let i = 0; i < FILES_PER_SWEEP && !isStopped(); i++) if (!(await sql.begin(closeOldestResultFile))) return;
}

/** False: none is old enough, or a booking holds those that are. */
async function closeOldestResultFile(tx: Tx): Promise<boolean> {
  const [file] = await tx<ResultFile[]>`
    update booked_files set closed = true where (org_id, source) = (
      select org_id, source from booked_files
       where not closed and last_at < now() - ${`${FILE_OPEN_DAYS} days`}::text::interval
       order by last_at limit 1 for no key update skip locked)
    returning org_id as "orgId", encode(source, 'hex') as source`;
  if (file === undefined) return false;
  await tx`delete from booked_lines where org_id = ${file.orgId} and source = decode(${file.source}, 'hex')`;
  return true;
}
