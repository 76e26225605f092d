import { Fingerprint } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/trust-rules',
    load: async () => (await import('./trust-rules-page.js')).TrustRulesPage,
    nav: { label: 'Trust rules', icon: Fingerprint, section: 'Access', order: 4, key: 'i' },
  },
];
