import { ChartColumn } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/usage',
    load: async () => (await import('./usage.js')).Usage,
    nav: { label: 'Usage & cost', icon: ChartColumn, section: 'Traffic', order: 3, key: 'u' },
  },
];
