/** Parts of a row that tables and cards share. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Selection } from './data-table-types.js';

interface RowCheckboxProps<Row> {
  readonly row: Row;
  readonly selection: Selection<Row>;
}

export const RowCheckbox = <Row,>({ row, selection }: RowCheckboxProps<Row>) => (
  <input
    type="checkbox"
    className="acg-checkbox"
    aria-label={`Select ${selection.nameOf(row)}`}
    checked={selection.isSelected(row)}
    onChange={(event) => selection.set([row], event.currentTarget.checked)}
  />
);

/** Clicks on controls inside a row, and text selections, do not open the row. */
export const isPlainClick = (target: Element): boolean =>
  target.closest('a,button,input,label,select') === null && getSelection()?.toString() === '';

/** The link to a row's page. */
export const RowLink = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Link href={to} className="acg-row-link">
    {children}
  </Link>
);
