import { Users } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/members',
    load: async () => (await import('./members-page.js')).MembersPage,
    nav: { label: 'Members', icon: Users, section: 'Organization', order: 2, key: 'm' },
  },
];
