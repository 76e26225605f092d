/** A link in running text or among facts to another page of the dashboard. */
import { Anchor } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

export const PageLink = ({ href, children }: { readonly href: string; readonly children: ReactNode }) => (
  <Anchor component={Link} href={href} inherit underline="always" className="acg-break-anywhere">
    {children}
  </Anchor>
);
