import { type Static, Type } from 'typebox';
import { EXAMPLE_TIMES } from '../http/examples.js';
import { PageQuery, PageReply } from '../http/limit-offset-pagination.js';
import { Timestamp, Uuid } from '../http/schema.js';
import { SUSPENDABLE_KINDS } from './suspendable-tables.js';

const Kind = Type.Enum([...SUSPENDABLE_KINDS]);

export const SuspendedItem = Type.Object({
  id: Uuid,
  kind: Kind,
  name: Type.String({
    description: 'The name; for a member or an invitation the e-mail address, for a webhook the URL.',
  }),
  detail: Type.String({ description: 'Further identification: role, token prefix, events, agent or address.' }),
  createdAt: Timestamp,
  suspendedAt: Timestamp,
});
export type SuspendedItem = Static<typeof SuspendedItem>;

export const SuspendedQuery = Type.Object({ ...PageQuery, kind: Type.Optional(Kind) });
export const SuspendedList = Type.Object({ items: Type.Array(SuspendedItem), ...PageReply });
export const SuspendedReply = Type.Object({ item: SuspendedItem });

/** For the API document. */
export const EXAMPLES = {
  detail: 'acgm_00000000… admin',
  suspendedAt: EXAMPLE_TIMES.used,
};
