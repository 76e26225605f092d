import { BellRing } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/alerts',
    load: async () => (await import('./alerts-page.js')).AlertsPage,
    nav: { label: 'Alerts', icon: BellRing, section: 'Traffic', order: 7, key: 'l' },
  },
  { path: '/alerts/rules', load: async () => (await import('./alert-rules-page.js')).AlertRulesPage },
];
