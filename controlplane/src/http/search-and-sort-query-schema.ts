/** Query parameters of lists: `search`, and `sort` and `order`. */
import { Type } from 'typebox';

export const SearchQuery = (fields: string) => ({
  search: Type.Optional(Type.String({ maxLength: 200, description: `Part of ${fields}. Case-insensitive.` })),
});

export type Order = 'asc' | 'desc';

export const SortQuery = <const T extends string>(fields: readonly T[]) => ({
  sort: Type.Optional(Type.Enum([...fields])),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
});
