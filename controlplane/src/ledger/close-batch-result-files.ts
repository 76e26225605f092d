/**
 * Batch result files in the ledger. `booked_lines` keeps each entry of an open file, so that an entry is booked once
 * however often it is fetched. `booked_files` has one row per file.
 *
 * A file is closed {@link FILE_OPEN_DAYS} after its last new entry: its entries are deleted, and usage fetched from it
 * later is not booked. Anthropic keeps results for 29 days
 * (https://docs.anthropic.com/en/docs/build-with-claude/batch-processing), so later fetches repeat entries that are
 * booked already.
 *
 * Booking and closing both lock the file's row until their commit, so no entry is claimed while its file is being
 * closed.
 */
import { arrayLiteral } from '../db/array-literal.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import type { ReservedConnection } from '../db/reserved-connection.js';

const FILE_OPEN_DAYS = 60;
/** `last_at` may be up to this much too old. That saves a write for each batch of entries. */
const LAST_AT_LAG = '1 hour';
const FILES_PER_SWEEP = 1_000;
const INDEX = 'booked_lines_source';

/** A batch result file of one organization. */
export interface ResultFile {
  readonly orgId: string;
  /** Digest of provider and file, hex. */
  readonly source: string;
}

export const resultFileKey = ({ orgId, source }: ResultFile): string => `${orgId} ${source}`;

const orgIdAndSourceArrayLiterals = (files: readonly ResultFile[]) =>
  [arrayLiteral(files, ({ orgId }) => orgId), arrayLiteral(files, ({ source }) => `\\x${source}`)] as const;

/**
 * Locks the rows of these distinct files until the transaction ends, and creates missing ones. Returns the keys of the
 * closed files.
 */
export async function lockResultFilesAndFindClosed(tx: Tx, files: readonly ResultFile[]): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const [orgs, sources] = orgIdAndSourceArrayLiterals(files);
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

/** Records that new entries of these files were booked. The transaction must hold the locks of their rows. */
export async function recordResultFileActivity(tx: Tx, files: readonly ResultFile[]): Promise<void> {
  if (files.length === 0) return;
  const [orgs, sources] = orgIdAndSourceArrayLiterals(files);
  await tx`
    update booked_files f set last_at = now()
      from unnest(${orgs}::text::uuid[], ${sources}::text::bytea[]) as r(org_id, source)
     where f.org_id = r.org_id and f.source = r.source and f.last_at < now() - ${LAST_AT_LAG}::text::interval`;
}

/**
 * Creates the index that finds the entries of a file, if it is missing or invalid. Bookings continue meanwhile.
 * `runCancellable` awaits a statement that may take long, so that the shutdown of the process can cancel it.
 */
export async function createDeferredUsageIndexIfMissing(
  connection: ReservedConnection,
  runCancellable: (query: ReturnType<ReservedConnection['unsafe']>) => Promise<void>,
): Promise<void> {
  const [found] = await connection<{ valid: boolean }[]>`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${INDEX})`;
  if (found?.valid === true) return;
  if (found !== undefined) await connection.unsafe(`drop index concurrently ${INDEX}`); // left by an interrupted attempt
  await runCancellable(
    connection.unsafe(`create index concurrently ${INDEX} on booked_lines (org_id, source) where source is not null`),
  );
}

/**
 * Closes files whose last new entry is old enough, each in its own transaction. Stops after {@link FILES_PER_SWEEP}
 * files; the next sweep continues.
 */
export async function closeOldResultFilesAndDeleteEntries(sql: Sql, isStopped: () => boolean): Promise<void> {
  for (let i = 0; i < FILES_PER_SWEEP && !isStopped(); i++)
    if (!(await sql.begin(closeOldestFileAndDeleteEntries))) return;
}

/** Returns false if no file is old enough, or if bookings hold the locks of all that are. */
async function closeOldestFileAndDeleteEntries(tx: Tx): Promise<boolean> {
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
