/** What a user chose for a table: columns and compact rows. Kept in this browser, for each user. */
import { useLocalStorage } from '@mantine/hooks';
import { useMe } from '../../api/session.js';
import type { Column } from './data-table-types.js';

interface StoredView {
  /** Headers, with the choice; a column that is not named keeps its default. */
  readonly columns: Readonly<Record<string, boolean>>;
  readonly isCompact: boolean;
}

const DEFAULT: StoredView = { columns: {}, isCompact: false };

type AnyColumn = Pick<Column<never>, 'header' | 'isOptional' | 'wideOnly'>;

export interface TableView {
  readonly isCompact: boolean;
  /** `wide`: the screen has room for columns of wide screens. */
  readonly isShown: (column: AnyColumn, wide: boolean) => boolean;
  readonly setShown: (header: string, isShown: boolean) => void;
  readonly setCompact: (isCompact: boolean) => void;
  readonly reset: () => void;
}

export function useTableView(label: string): TableView {
  const userId = useMe().data?.user?.id ?? '';
  const [stored, setStored] = useLocalStorage<StoredView>({
    key: `acg-table ${userId} ${label}`,
    defaultValue: DEFAULT,
    getInitialValueInEffect: false,
    deserialize: parseView,
  });
  return {
    isCompact: stored.isCompact,
    isShown: ({ header, isOptional = false, wideOnly = false }, wide) =>
      stored.columns[header] ?? (!isOptional && (wide || !wideOnly)),
    setShown: (header, isShown) => setStored({ ...stored, columns: { ...stored.columns, [header]: isShown } }),
    setCompact: (isCompact) => setStored({ ...stored, isCompact }),
    reset: () => setStored(DEFAULT),
  };
}

/** The storage may hold anything, e.g. of another version. */
function parseView(text: string | undefined): StoredView {
  try {
    const value = JSON.parse(text ?? '') as Partial<StoredView>;
    const columns = Object.entries(value.columns ?? {}).filter(([, isShown]) => typeof isShown === 'boolean');
    return { columns: Object.fromEntries(columns), isCompact: value.isCompact === true };
  } catch {
    return DEFAULT;
  }
}
