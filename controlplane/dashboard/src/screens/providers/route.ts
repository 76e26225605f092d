import { PlugZap } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/providers',
    load: async () => (await import('./providers-page.js')).ProvidersPage,
    nav: { label: 'Providers', icon: PlugZap, section: 'Access', order: 3, key: 'v' },
  },
  { path: '/providers/accounts/:id', load: async () => (await import('./account-page.js')).AccountPage },
];
