import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { App } from '../http/app.js';
import { parsePage } from '../http/limit-offset-pagination.js';
import { operation } from '../http/operation-id-tag-and-summary.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import { countArchivedDays, listArchivedDays, loadArchivedDay } from './archive-store.js';
import type { Archiver } from './archiver.js';
import { ArchiveQuery, ArchiveReply, ArchiveVerifyInput, ArchiveVerifyReply } from './schema.js';

/** `archiver` is null without ARCHIVE_URL. */
export function archiveRoutes(app: App, sql: Sql, archiver: Archiver | null): void {
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
        days: days.map(({ costNanos, verifiedAt, ...day }) => ({
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
      const problem = await runWithoutRequestSlot(() => archiver.findProblem(actor.orgId, day));
      return { day, ok: problem === null, problem };
    },
  );
}
