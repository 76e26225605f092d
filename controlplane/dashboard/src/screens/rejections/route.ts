import { ShieldX } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/refusals',
    load: async () => (await import('./rejections-page.js')).RejectionsPage,
    nav: { label: 'Rejections', icon: ShieldX, section: 'Traffic', order: 2, key: 'r' },
  },
];
