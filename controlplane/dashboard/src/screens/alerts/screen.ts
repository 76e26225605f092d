import { BellRing } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/alerts',
    load: async () => (await import('./alerts.js')).Alerts,
    nav: { label: 'Alerts', icon: BellRing, section: 'Traffic', order: 7, key: 'l' },
  },
];
