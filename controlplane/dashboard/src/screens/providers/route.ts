import { PlugZap } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/providers',
    load: async () => (await import('./providers-page.js')).ProvidersPage,
    nav: { label: 'Providers', icon: PlugZap, section: 'Access', order: 3, key: 'v' },
  },
];
