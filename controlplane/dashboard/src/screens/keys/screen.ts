import { KeyRound } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/keys',
    load: async () => (await import('./keys.js')).Keys,
    nav: { label: 'Keys', icon: KeyRound, section: 'Access', order: 2, key: 'k' },
  },
];
