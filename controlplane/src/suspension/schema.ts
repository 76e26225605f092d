import { type Static, Type } from 'typebox';
import { PageQuery, PageReply } from '../http/pagination.js';
import { Timestamp, Uuid } from '../http/schema.js';
import { SUSPENDABLE_KINDS } from './suspendable-tables.js';

const Kind = Type.Enum([...SUSPENDABLE_KINDS]);

export const SuspendedItem = Type.Object({
  id: Uuid,
  kind: Kind,
  name: Type.String({ description: 'Of a member or an invitation the address, of a webhook the URL.' }),
  detail: Type.String({ description: 'What else identifies it: role, prefix of the token, events, agent, address.' }),
  createdAt: Timestamp,
  suspendedAt: Timestamp,
});
export type SuspendedItem = Static<typeof SuspendedItem>;

export const SuspendedQuery = Type.Object({ ...PageQuery, kind: Type.Optional(Kind) });
export const SuspendedList = Type.Object({ items: Type.Array(SuspendedItem), ...PageReply });
export const SuspendedReply = Type.Object({ item: SuspendedItem });
