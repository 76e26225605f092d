import { LayoutDashboard } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/',
    load: async () => (await import('./overview-page.js')).OverviewPage,
    nav: { label: 'Overview', icon: LayoutDashboard, section: '', order: 1, key: 'o' },
  },
];
