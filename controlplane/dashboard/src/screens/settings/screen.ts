import { Settings } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/settings',
    load: async () => (await import('./settings.js')).SettingsPage,
    nav: { label: 'Settings', icon: Settings, section: 'Organization', order: 4, key: 's' },
  },
];
