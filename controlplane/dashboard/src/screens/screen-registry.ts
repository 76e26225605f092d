/** Finds all screens by their folders, so that a new screen needs no entry in a list. */
import { NAV_SECTIONS, type ScreenDefinition } from './screen-definition.js';

const modules = import.meta.glob<{ screens: readonly ScreenDefinition[] }>('./*/route.ts', { eager: true });
const all = Object.values(modules).flatMap(({ screens }) => screens);

export const ROUTES: readonly Pick<ScreenDefinition, 'path' | 'load'>[] = all;

interface NavItem extends NonNullable<ScreenDefinition['nav']> {
  readonly path: string;
}

const items: readonly NavItem[] = all.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ path, ...nav }]));

/** Navigation entries by section. */
export const NAVIGATION = NAV_SECTIONS.map((section) => ({
  section,
  items: items.filter((item) => item.section === section).sort((a, b) => a.order - b.order),
})).filter((group) => group.items.length > 0);
