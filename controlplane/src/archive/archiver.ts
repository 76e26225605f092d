/**
 * Writes closed days of the ledger to the archive: per organization Parquet parts of usage and of FOCUS charges, then a
 * manifest with rows, sums and checksums. A day counts as archived when all files were read back and agree with the
 * ledger. Every step can be repeated, so a kill at any point costs time only. One control plane archives at a time.
 */
import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { withReservedConnection } from '../db/reserved-connection.js';
import { FOCUS_COLUMNS, startOfHours, USAGE_COLUMNS } from './archive-columns.js';
import * as store from './archive-store.js';
import {
  dayFolder,
  formatManifest,
  MANIFEST_BYTES_MAX,
  type Manifest,
  manifestKey,
  parseManifest,
  sumFiles,
} from './manifest.js';
import { type ObjectStore, StorageUnavailable } from './object-store.js';
import { findPartProblem, PartMemory, PartWriter, sha256Of } from './part-writer.js';

/** After the end of a day: calls that began on it have ended. */
const CLOSED_AFTER_MS = 2 * HOUR_MS;
/** Late records mostly come within this time; older days are compared again before they are dropped. */
const COMPARED_AGAIN_MS = 4 * DAY_MS;
const USAGE_NANOS = 'costNanos';
const FOCUS_NANOS = 'x_CostNanos';

interface UnarchivedDay {
  readonly dayMs: number;
  readonly orgIds: readonly string[];
  /** With these organizations the day is complete. */
  readonly isLast: boolean;
}

/** What a verified day must have. */
type VerifiedDay = Pick<store.ArchivedDay, 'rows' | 'costNanos' | 'files' | 'bytes' | 'manifestSha256'>;

export const dayText = (dayMs: number): string => new Date(dayMs).toISOString().slice(0, 10);

export class Archiver {
  #stopped = false;
  /** Organizations with a day that could not be written last time: they come after all others. */
  readonly #failing = new Set<string>();
  /** Created by the first archived day. */
  #memory: PartMemory | null = null;
  /** Days that are closed and not archived; for the metric. */
  behindDays = 0;

  constructor(
    readonly sql: Sql,
    readonly objects: ObjectStore,
    readonly log: Logger,
  ) {}

  /** Ends after the organization in progress. */
  stop(): void {
    this.#stopped = true;
  }

  /** Archives every closed day that is not, oldest first. Does nothing while another control plane archives. */
  async archiveClosedDays(nowMs: number): Promise<void> {
    await withReservedConnection(this.sql, async (connection) => {
      const [lock] = await connection<{ ours: boolean }[]>`
        select pg_try_advisory_lock(hashtext('usage_archive')) as ours`;
      if (lock?.ours !== true) return;
      const complete = await store.listCompleteDays(this.sql);
      const isDue = (day: number): boolean =>
        day + DAY_MS + CLOSED_AFTER_MS <= nowMs && (!complete.has(day) || day + COMPARED_AGAIN_MS > nowMs);
      const days = (await store.listPartitionDays(this.sql)).filter(isDue);
      this.behindDays = days.length;
      const postponed: UnarchivedDay[] = [];
      for (const dayMs of days) {
        const orgIds = await store.listUnarchived(this.sql, dayMs, dayMs + DAY_MS);
        const first = orgIds.filter((orgId) => !this.#failing.has(orgId));
        const rest = orgIds.filter((orgId) => this.#failing.has(orgId));
        const outcome = await this.#archiveDay({ dayMs, orgIds: first, isLast: rest.length === 0 });
        if (outcome === 'stopped') return;
        if (rest.length > 0) postponed.push({ dayMs, orgIds: rest, isLast: outcome === 'complete' });
      }
      for (const day of postponed) if ((await this.#archiveDay(day)) === 'stopped') return;
    });
  }

  /**
   * True when the archive has every organization of the day with the records that the ledger has now, and all its files
   * were read back just now. Otherwise the next run archives the day again. For retention, whose drop cannot be undone.
   */
  async isArchived(dayMs: number): Promise<boolean> {
    const day = dayText(dayMs);
    let isComplete = (await store.listUnarchived(this.sql, dayMs, dayMs + DAY_MS)).length === 0;
    if (!isComplete) {
      await store.unmarkComplete(this.sql, dayMs);
      return false;
    }
    for (const orgId of await store.listArchivedOrganizations(this.sql, dayMs, dayMs + DAY_MS)) {
      try {
        const problem = await this.findProblem(orgId, day);
        if (problem === null) continue;
        this.log.error({ orgId, day, problem }, 'archive: a day is damaged; archived again within an hour');
        await store.forgetArchivedDay(this.sql, orgId, day);
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) throw error;
        this.log.error({ orgId, day, err: error }, 'archive: a day could not be read back; it is kept');
        return false;
      }
      isComplete = false;
    }
    if (!isComplete) await store.unmarkComplete(this.sql, dayMs);
    return isComplete;
  }

  /**
   * A day of an organization that cannot be written is left for the next run and keeps no other one waiting. Storage that
   * is away ends the run: every further day would wait for it. Where it rejects one organization only, the next run
   * begins with the others.
   */
  async #archiveDay({ dayMs, orgIds, isLast }: UnarchivedDay): Promise<'complete' | 'incomplete' | 'stopped'> {
    let isComplete = true;
    for (const orgId of orgIds) {
      if (this.#stopped) return 'stopped';
      try {
        await this.#archiveOrganization(orgId, dayMs);
        this.#failing.delete(orgId);
      } catch (error) {
        this.#failing.add(orgId);
        this.log.error(
          { orgId, day: dayText(dayMs), err: error },
          'archive: a day could not be written; tried again in an hour',
        );
        if (error instanceof StorageUnavailable) return 'stopped';
        isComplete = false;
      }
    }
    if (!isComplete) return 'incomplete';
    if (isLast) {
      await store.markComplete(this.sql, dayMs);
      this.behindDays--;
    }
    return 'complete';
  }

  async #archiveOrganization(orgId: string, dayMs: number): Promise<void> {
    const day = dayText(dayMs);
    this.#memory ??= new PartMemory();
    const memory = this.#memory;
    const usage = new PartWriter(this.objects, memory, dayFolder('usage', orgId, day), USAGE_COLUMNS, USAGE_NANOS);
    for await (const rows of store.readUsage(this.sql, orgId, dayMs, dayMs + DAY_MS)) await usage.write(rows);
    await usage.finish();
    const focus = new PartWriter(this.objects, memory, dayFolder('focus', orgId, day), FOCUS_COLUMNS, FOCUS_NANOS);
    for (const hour of startOfHours(dayMs)) await store.readCharges(this.sql, orgId, hour, (rows) => focus.write(rows));
    await focus.finish();
    const sums = sumFiles(usage.files);
    const manifest = formatManifest({ orgId, day, ...sums, usage: usage.files, focus: focus.files });
    await this.objects.put(manifestKey(orgId, day), manifest);
    const files = [...usage.files, ...focus.files];
    const verified: VerifiedDay = {
      ...sums,
      files: files.length,
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      manifestSha256: sha256Of(manifest),
    };
    const problem = await this.#findDifference(orgId, day, verified);
    if (problem !== null) throw new Error(problem);
    await store.recordArchivedDay(this.sql, orgId, { day, ...verified });
  }

  /**
   * Reads a day of an organization back, and compares files, manifest, what was recorded when it was archived, and, while
   * it still has the day, the ledger. Returns what is wrong, or null. Throws {@link StorageUnavailable}.
   */
  async findProblem(orgId: string, day: string): Promise<string | null> {
    const archived = await store.loadArchivedDay(this.sql, orgId, day);
    return archived === null ? `${day} is not in the archive yet` : this.#findDifference(orgId, day, archived);
  }

  async #findDifference(orgId: string, day: string, verified: VerifiedDay): Promise<string | null> {
    const key = manifestKey(orgId, day);
    const text = await this.objects.get(key, MANIFEST_BYTES_MAX);
    if (text === null) return `${key} is missing`;
    const manifest = parseManifest(text, orgId, day);
    if (manifest === null) return `${key} is no manifest of this day`;
    const sha256 = sha256Of(text);
    if (verified.manifestSha256 !== null ? verified.manifestSha256 !== sha256 : !isSameDay(manifest, verified))
      return `${key} was changed after the day was archived`;
    for (const [files, nanosColumn] of [
      [manifest.usage, USAGE_NANOS],
      [manifest.focus, FOCUS_NANOS],
    ] as const) {
      for (const file of files) {
        const problem = await findPartProblem(this.objects, file, nanosColumn);
        if (problem !== null) return problem;
      }
      if (sumFiles(files).costNanos !== manifest.costNanos) return `${key}: its files have another sum`;
    }
    if (sumFiles(manifest.usage).rows !== manifest.rows) return `${key}: its files have another number of rows`;
    const dayMs = Date.parse(day);
    const ledger = await store.sumDay(this.sql, orgId, dayMs, dayMs + DAY_MS);
    const isInLedger = (await store.listPartitionDays(this.sql)).includes(dayMs);
    if (isInLedger && (ledger.rows !== manifest.rows || ledger.costNanos !== manifest.costNanos))
      return `the ledger has ${describe(ledger)} of ${day}, the archive ${describe(manifest)}: archived again within an hour`;
    return null;
  }
}

const describe = ({ rows, costNanos }: store.DaySums): string => `${rows} records for ${costNanos} nano-dollars`;

/** For a day of an earlier release, which recorded no checksum of the manifest. */
function isSameDay({ rows, costNanos, usage, focus }: Manifest, verified: VerifiedDay): boolean {
  const files = [...usage, ...focus];
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    rows === verified.rows &&
    costNanos === verified.costNanos &&
    files.length === verified.files &&
    bytes === verified.bytes
  );
}
