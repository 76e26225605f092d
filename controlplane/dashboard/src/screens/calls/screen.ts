import { Activity } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/calls',
    load: async () => (await import('./calls.js')).Calls,
    nav: { label: 'Calls', icon: Activity, section: 'Traffic', order: 1, key: 'c' },
  },
];
