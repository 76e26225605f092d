/** Finds all screens by their folders, so that a new screen needs no entry in a list. */
import { NAV_SECTIONS, type ScreenDefinition } from './screen-definition.js';

type Route = Pick<ScreenDefinition, 'path' | 'load'>;

const modules = import.meta.glob<{ screens: readonly ScreenDefinition[] }>('./*/route.ts', { eager: true });
const all = Object.values(modules).flatMap(({ screens }) => screens);

interface NavItem extends Route, NonNullable<ScreenDefinition['nav']> {}

const items: readonly NavItem[] = all.flatMap(({ nav, ...route }) => (nav === undefined ? [] : [{ ...route, ...nav }]));

/** Navigation entries by section. */
export const NAVIGATION = NAV_SECTIONS.map((section) => ({
  section,
  items: items.filter((item) => item.section === section).sort((a, b) => a.order - b.order),
})).filter((group) => group.items.length > 0);

/** The screens of the navigation first, in its order, in which the idle page loads their code. */
export const ROUTES: readonly Route[] = [
  ...NAVIGATION.flatMap(({ items: shown }) => shown),
  ...all.filter(({ nav }) => nav === undefined),
];
