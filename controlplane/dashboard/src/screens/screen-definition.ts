/** The definition of a screen. Each folder beside this file has a `route.ts` that exports `screens`. */
import type { LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';

/** Sections of the navigation, in display order. */
export const NAV_SECTIONS = ['', 'Traffic', 'Access', 'Organization'] as const;

interface NavEntry {
  readonly label: string;
  readonly icon: LucideIcon;
  readonly section: (typeof NAV_SECTIONS)[number];
  /** Position within the section, ascending. */
  readonly order: number;
  /** Keyboard shortcut: opens the screen when pressed after `g`. */
  readonly key: string;
}

export interface ScreenDefinition {
  /** Route pattern, e.g. `/agents/:id`. */
  readonly path: string;
  /** Loads the component when the screen is first shown. */
  readonly load: () => Promise<ComponentType>;
  /** Absent: the screen is reached from another screen. */
  readonly nav?: NavEntry;
}
