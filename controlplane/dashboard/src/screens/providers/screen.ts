import { PlugZap } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/providers',
    load: async () => (await import('./providers.js')).Providers,
    nav: { label: 'Providers', icon: PlugZap, section: 'Access', order: 3, key: 'v' },
  },
];
