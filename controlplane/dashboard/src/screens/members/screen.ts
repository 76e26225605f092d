import { Users } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/members',
    load: async () => (await import('./members.js')).Members,
    nav: { label: 'Members', icon: Users, section: 'Organization', order: 2, key: 'm' },
  },
];
