import { ScrollText } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/audit',
    load: async () => (await import('./audit-page.js')).AuditPage,
    nav: { label: 'Audit', icon: ScrollText, section: 'Organization', order: 3, key: 't' },
  },
];
