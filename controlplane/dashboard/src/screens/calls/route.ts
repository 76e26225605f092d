import { Activity } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/calls',
    load: async () => (await import('./calls-page.js')).CallsPage,
    nav: { label: 'Calls', icon: Activity, section: 'Traffic', order: 1, key: 'c' },
  },
];
