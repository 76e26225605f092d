import { LayoutDashboard } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/',
    load: async () => (await import('./overview.js')).Overview,
    nav: { label: 'Overview', icon: LayoutDashboard, section: '', order: 1, key: 'o' },
  },
];
