import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, createQueueFullError, NotFound } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import { countArchivedDays, listArchivedDays, loadArchivedDay } from './archive-store.js';
import type { Archiver } from './archiver.js';
import { StorageUnavailable } from './object-store.js';
import { ArchiveQuery, ArchiveReply, ArchiveVerifyInput, ArchiveVerifyReply } from './schema.js';

/** Each holds one part of some 6 MiB and its values. */
const VERIFICATIONS_MAX = 2;
const WAITING_MAX = 100;

async function verify(archiver: Archiver, orgId: string, day: string): Promise<ArchiveVerifyReply> {
  try {
    const problem = await archiver.findProblem(orgId, day);
    return { day, ok: problem === null, state: problem === null ? 'verified' : 'differs', problem };
  } catch (error) {
    if (!(error instanceof StorageUnavailable)) throw error;
    return { day, ok: false, state: 'unreadable', problem: `the storage cannot be read (${error.message}): try again` };
  }
}

/** `archiver` is null without ARCHIVE_URL. */
export function archiveRoutes(app: App, sql: Sql, archiver: Archiver | null): void {
  const verifications = new FairSemaphore({
    runningMax: VERIFICATIONS_MAX,
    waitingMax: WAITING_MAX,
    createError: () => createQueueFullError('verifications of archived days'),
    fraction: 1 / 2,
  });
  app.get(
    '/v1/archive',
    {
      config: { access: 'viewer' },
      schema: {
        ...operation('Usage', 'listArchivedDays', 'List the days of the ledger that are in the archive'),
        querystring: ArchiveQuery,
        response: { 200: ArchiveReply },
      },
    },
    async ({ actor, query }) => {
      const { limit, offset } = parsePage(query);
      const days = await listArchivedDays(sql, actor.orgId, limit, offset);
      return {
        enabled: archiver !== null,
        days: days.map(({ costNanos, verifiedAt, manifestSha256: _, ...day }) => ({
          ...day,
          costCents: Number(costNanos) / NANOS_PER_CENT,
          verifiedAt: verifiedAt.toISOString(),
        })),
        total: await countArchivedDays(sql, actor.orgId),
        limit,
        offset,
      };
    },
  );
  app.post(
    '/v1/archive/verify',
    {
      config: { access: 'admin' },
      schema: {
        ...operation('Usage', 'verifyArchivedDay', 'Read an archived day back and compare it with its manifest'),
        body: ArchiveVerifyInput,
        response: { 200: ArchiveVerifyReply },
      },
    },
    async ({ actor, body: { day } }) => {
      if (archiver === null) throw new Conflict('there is no archive: the operator has not set ARCHIVE_URL');
      if ((await loadArchivedDay(sql, actor.orgId, day)) === null) throw new NotFound(`archived day ${day}`);
      const { orgId } = actor;
      return runWithoutRequestSlot(() => verifications.run(orgId, () => verify(archiver, orgId, day)));
    },
  );
}
