import { ScrollText } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/audit',
    load: async () => (await import('./audit.js')).Audit,
    nav: { label: 'Audit', icon: ScrollText, section: 'Organization', order: 3, key: 't' },
  },
];
