import { Stamp } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/issuer',
    load: async () => (await import('./issuer-page.js')).IssuerPage,
    nav: { label: 'Issuer', icon: Stamp, section: 'Access', order: 5, key: 'd' },
  },
];
