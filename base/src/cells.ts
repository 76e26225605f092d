/** Cells (docs/regions.md): their names, and how records and figures name a window of a budget in one cell. */

/** 1 to 32 characters. The name is part of Redis keys and of usage records. */
export const CELL_NAME = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;

export interface Cell {
  /** `''`: the cell has no name, and hard budgets are not divided. */
  readonly name: string;
  /** Part of each limit that the cell grants, 1 to 100. */
  readonly sharePercent: number;
}

/** Of a data plane without settings for cells. */
export const NO_CELL: Cell = { name: '', sharePercent: 100 };

/** Separates window and cell, in neither of which it may occur. */
const SEPARATOR = '/';

/** `2026-11/eu`: the window of a budget as one cell spends it. */
export const windowInCell = (window: string, cell: string): string => `${window}${SEPARATOR}${cell}`;

/** Reads what {@link windowInCell} wrote. Null: the text names no cell. The window is not validated. */
export function parseWindowInCell(text: string): { readonly window: string; readonly cell: string } | null {
  const at = text.indexOf(SEPARATOR);
  if (at < 0) return null;
  const cell = text.slice(at + 1);
  return CELL_NAME.test(cell) ? { window: text.slice(0, at), cell } : null;
}
