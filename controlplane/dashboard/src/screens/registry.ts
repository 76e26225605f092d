/** All screens, found by their folders, so that a new one is a new folder and touches no list. */
import { type Screen, SECTIONS } from './screen.js';

const modules = import.meta.glob<{ screens: readonly Screen[] }>('./*/screen.ts', { eager: true });
const all = Object.values(modules).flatMap(({ screens }) => screens);

export const ROUTES: readonly Pick<Screen, 'path' | 'load'>[] = all;

interface NavItem extends NonNullable<Screen['nav']> {
  readonly path: string;
}

const items: readonly NavItem[] = all.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ path, ...nav }]));

/** Entries of the navigation, section by section. */
export const NAVIGATION = SECTIONS.map((section) => ({
  section,
  items: items.filter((item) => item.section === section).sort((a, b) => a.order - b.order),
})).filter((group) => group.items.length > 0);
