/** What a screen says about itself. Each folder beside this file has a `screen.ts` that exports `screens`. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';

/** Sections of the navigation, in their order. */
export const NAV_SECTIONS = ['', 'Traffic', 'Access', 'Organization'] as const;

interface NavEntry {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly section: (typeof NAV_SECTIONS)[number];
  /** Place within the section, smallest first. */
  readonly order: number;
  /** Pressed after `g`, it leads there. */
  readonly key: string;
}

export interface ScreenDefinition {
  /** Pattern of its address, e.g. `/agents/:id`. */
  readonly path: string;
  /** Loads it when it is shown first. */
  readonly load: () => Promise<ComponentType>;
  /** Absent: one gets there from another screen. */
  readonly nav?: NavEntry;
}
