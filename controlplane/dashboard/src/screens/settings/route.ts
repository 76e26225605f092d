import { Settings } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/settings',
    load: async () => (await import('./settings-page.js')).SettingsPage,
    nav: { label: 'Settings', icon: Settings, section: 'Organization', order: 4, key: 's' },
  },
];
