/** `search` of lists, and `sort` and `order` that can be sorted. */
import { Type } from 'typebox';

export const SearchQuery = (what: string) => ({
  search: Type.Optional(Type.String({ maxLength: 200, description: `A part of ${what}, in any case.` })),
});

export type Order = 'asc' | 'desc';

export const SortQuery = <const T extends string>(fields: readonly T[]) => ({
  sort: Type.Optional(Type.Enum([...fields])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
});
