import { ShieldX } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/refusals',
    load: async () => (await import('./refusals.js')).Refusals,
    nav: { label: 'Refusals', icon: ShieldX, section: 'Traffic', order: 2, key: 'r' },
  },
];
