import { KeyRound } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/keys',
    load: async () => (await import('./keys-page.js')).KeysPage,
    nav: { label: 'Gateway tokens', icon: KeyRound, section: 'Access', order: 2, key: 'k' },
  },
  { path: '/keys/:id', load: async () => (await import('./key-page.js')).KeyPage },
];
