/** Schemas of the archive (docs/contract.md#archive). */
import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Body, Day, Timestamp } from '../http/schema.js';

export const ArchiveQuery = Type.Object({ ...PageQuery });
export const ArchiveReply = Type.Object({
  enabled: Type.Boolean({ description: 'False: the operator has set no ARCHIVE_URL.' }),
  days: Type.Array(
    Type.Object({
      day: Day,
      rows: Type.Integer({ description: 'Usage records.' }),
      costCents: Type.Number({ description: 'Their cost.' }),
      files: Type.Integer(),
      bytes: Type.Integer(),
      verifiedAt: Type.Unsafe<string>({ ...Timestamp, description: 'When all files were read back.' }),
    }),
  ),
  ...PageReply,
});
export const ArchiveVerifyInput = Body({ day: Day });
export const ArchiveVerifyReply = Type.Object({
  day: Day,
  ok: Type.Boolean(),
  state: Type.Enum(['verified', 'differs', 'unreadable'], {
    description:
      '`differs`: files or manifest are missing or changed, or the ledger has other records. `unreadable`: the storage is away, which says nothing about the day.',
  }),
  problem: Type.Union([Type.String(), Type.Null()], { description: 'What is wrong; null: nothing.' }),
});
export type ArchiveVerifyReply = Static<typeof ArchiveVerifyReply>;

/** For the API document. */
export const EXAMPLES = {
  'ArchiveReply.enabled': true,
  'days.day': '2026-01-12',
  'ArchiveVerifyInput.day': '2026-01-12',
  'ArchiveVerifyReply.day': '2026-01-12',
  'ArchiveVerifyReply.state': 'verified',
  'ArchiveVerifyReply.problem': null,
  rows: 48_210,
  files: 2,
  bytes: 3_145_728,
  verifiedAt: '2026-01-13T02:05:00.000Z',
};
