/** `sort` and `order` of lists that can be sorted; each says which fields it knows. */
import { Type } from 'typebox';

export type Order = 'asc' | 'desc';

export const SortQuery = <const T extends string>(fields: readonly T[]) => ({
  sort: Type.Optional(Type.Enum([...fields])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
});
