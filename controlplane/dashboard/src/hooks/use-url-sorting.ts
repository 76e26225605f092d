/** The column and the direction of a list that the server sorts, in the URL. */
import { useMemo } from 'react';
import { useUrlState } from './use-url-state.js';

const FIRST_PAGE = '1';

type Order = 'asc' | 'desc';

interface UrlSorting<T extends string> {
  /** Parameters of the request. */
  readonly query: { readonly sort: T; readonly order: Order };
  readonly sorting: {
    readonly sort: T;
    readonly order: Order;
    readonly onSort: (sort: string, order: Order) => void;
  };
}

/**
 * `columns`: what the API can sort by; the first is the default, in `defaultOrder`. `page` names the list's page in the
 * URL, which a change resets; lists of one screen have different ones.
 */
export function useUrlSorting<const T extends string>(
  columns: readonly [T, ...T[]],
  defaultOrder: Order = 'desc',
  page = 'page',
): UrlSorting<T> {
  const prefix = page === 'page' ? '' : `${page}-`;
  const [sortName, orderName] = [`${prefix}sort`, `${prefix}order`];
  const defaults = useMemo(
    () => ({ [sortName]: '', [orderName]: '', [page]: FIRST_PAGE }),
    [sortName, orderName, page],
  );
  const { values, set } = useUrlState(defaults);
  const chosen = columns.find((column) => column === values[sortName]);
  const sort = chosen ?? columns[0];
  const order = chosen === undefined ? defaultOrder : values[orderName] === 'asc' ? 'asc' : 'desc';
  return {
    query: { sort, order },
    sorting: {
      sort,
      order,
      onSort: (next, direction) => set({ [sortName]: next, [orderName]: direction, [page]: FIRST_PAGE }),
    },
  };
}
