import type { ReactNode } from 'react';
import { Link } from 'wouter';

/** The link to a row's page. */
export const RowLink = ({ to, children }: { readonly to: string; readonly children: ReactNode }) => (
  <Link href={to} className="acg-row-link">
    {children}
  </Link>
);
