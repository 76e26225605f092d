import { ChartColumn } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/usage',
    load: async () => (await import('./usage-page.js')).UsagePage,
    nav: { label: 'Usage & cost', icon: ChartColumn, section: 'Traffic', order: 3, key: 'u' },
  },
];
