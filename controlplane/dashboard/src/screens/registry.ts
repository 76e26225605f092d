/** All screens, found by their folders, so that a new one is a new folder and touches no list. */
import { type ComponentType, createElement } from 'react';
import { later } from '../parts/later.js';
import { ScreenSkeleton } from '../parts/screen-skeleton.js';
import { type Screen, SECTIONS } from './screen.js';

const modules = import.meta.glob<{ screens: readonly Screen[] }>('./*/screen.ts', { eager: true });
const all = Object.values(modules).flatMap(({ screens }) => screens);

interface ScreenRoute {
  readonly path: string;
  readonly component: ComponentType;
}

export const ROUTES: readonly ScreenRoute[] = all.map(({ path, load }) => ({
  path,
  component: later(load, createElement(ScreenSkeleton)),
}));

interface NavItem extends NonNullable<Screen['nav']> {
  readonly path: string;
}

const items: readonly NavItem[] = all.flatMap(({ path, nav }) => (nav === undefined ? [] : [{ path, ...nav }]));

/** Entries of the navigation, section by section. */
export const NAVIGATION = SECTIONS.map((section) => ({
  section,
  items: items.filter((item) => item.section === section).sort((a, b) => a.order - b.order),
})).filter((group) => group.items.length > 0);
