/**
 * `limit` and `offset` of every list (docs/contract.md#management-api): default 50 and 0, limit 1–100. Values out of
 * range return 400.
 */
import { Type } from 'typebox';

export const PageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
};

export const PageReply = { total: Type.Integer(), limit: Type.Integer(), offset: Type.Integer() };

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

export const parsePage = (query: { limit?: number; offset?: number }): Page => ({
  limit: query.limit ?? 50,
  offset: query.offset ?? 0,
});

/** The rows of a page and the number of all rows. */
export interface ListResult<T> {
  readonly rows: readonly T[];
  readonly total: number;
}
