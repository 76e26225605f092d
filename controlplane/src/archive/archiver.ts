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
import type { ObjectStore } from './object-store.js';
import { type ArchivedFile, findPartProblem, PartMemory, PartWriter } from './part-writer.js';

/** After the end of a day: calls that began on it have ended. */
const CLOSED_AFTER_MS = 2 * HOUR_MS;
/** Late records mostly come within this time; older days are compared again before they are dropped. */
const COMPARED_AGAIN_MS = 4 * DAY_MS;
const MANIFEST_VERSION = 1;
const USAGE_NANOS = 'costNanos';
const FOCUS_NANOS = 'x_CostNanos';

interface Manifest extends store.DaySums {
  readonly version: number;
  readonly orgId: string;
  readonly day: string;
  readonly usage: readonly ArchivedFile[];
  readonly focus: readonly ArchivedFile[];
}

export const dayText = (dayMs: number): string => new Date(dayMs).toISOString().slice(0, 10);
const manifestKey = (orgId: string, day: string): string => `manifests/org=${orgId}/day=${day}.json`;

export class Archiver {
  #stopped = false;
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
      for (const day of days) {
        if (!(await this.#archiveDay(day))) return;
        this.behindDays--;
      }
    });
  }

  /**
   * True when every organization of the day is archived with the records that the ledger has now. Otherwise the next run
   * archives the day again.
   */
  async isArchived(dayMs: number): Promise<boolean> {
    if ((await store.listUnarchived(this.sql, dayMs, dayMs + DAY_MS)).length === 0) return true;
    await store.unmarkComplete(this.sql, dayMs);
    return false;
  }

  /** Returns false when a part of it failed or the control plane stops. */
  async #archiveDay(dayMs: number): Promise<boolean> {
    for (const orgId of await store.listUnarchived(this.sql, dayMs, dayMs + DAY_MS)) {
      if (this.#stopped) return false;
      try {
        await this.#archiveOrganization(orgId, dayMs);
      } catch (error) {
        this.log.error(
          { orgId, day: dayText(dayMs), err: error },
          'archive: a day could not be written; tried again in an hour',
        );
        return false;
      }
    }
    await store.markComplete(this.sql, dayMs);
    return true;
  }

  async #archiveOrganization(orgId: string, dayMs: number): Promise<void> {
    const day = dayText(dayMs);
    this.#memory ??= new PartMemory();
    const memory = this.#memory;
    const usage = new PartWriter(this.objects, memory, `usage/org=${orgId}/day=${day}`, USAGE_COLUMNS, USAGE_NANOS);
    for await (const rows of store.readUsage(this.sql, orgId, dayMs, dayMs + DAY_MS)) await usage.write(rows);
    await usage.finish();
    const focus = new PartWriter(this.objects, memory, `focus/org=${orgId}/day=${day}`, FOCUS_COLUMNS, FOCUS_NANOS);
    for (const hour of startOfHours(dayMs)) await store.readCharges(this.sql, orgId, hour, (rows) => focus.write(rows));
    await focus.finish();
    const sums = sumFiles(usage.files);
    const manifest: Manifest = {
      version: MANIFEST_VERSION,
      orgId,
      day,
      ...sums,
      usage: usage.files,
      focus: focus.files,
    };
    await this.objects.put(manifestKey(orgId, day), Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
    const problem = await this.findProblem(orgId, day);
    if (problem !== null) throw new Error(problem);
    const files = [...usage.files, ...focus.files];
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    await store.recordArchivedDay(this.sql, orgId, { day, ...sums, files: files.length, bytes });
  }

  /**
   * Reads a day of an organization back, and compares files, manifest and, while it still has the day, the ledger.
   * Returns what is wrong, or null.
   */
  async findProblem(orgId: string, day: string): Promise<string | null> {
    const key = manifestKey(orgId, day);
    const text = await this.objects.get(key);
    if (text === null) return `${key} is missing`;
    const manifest = parseManifest(text);
    if (manifest === null || manifest.orgId !== orgId || manifest.day !== day)
      return `${key} is no manifest of this day`;
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
      return `the ledger has ${ledger.rows} records of ${day}, the archive ${manifest.rows}: archived again within an hour`;
    return null;
  }
}

function sumFiles(files: readonly ArchivedFile[]): store.DaySums {
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    costNanos: String(files.reduce((sum, { costNanos }) => sum + BigInt(costNanos), 0n)),
  };
}

function parseManifest(text: Buffer): Manifest | null {
  try {
    const value = JSON.parse(text.toString('utf8')) as Manifest;
    return value.version === MANIFEST_VERSION && Array.isArray(value.usage) && Array.isArray(value.focus)
      ? value
      : null;
  } catch {
    return null;
  }
}
