import { FolderKanban } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/projects',
    load: async () => (await import('./projects.js')).Projects,
    nav: { label: 'Projects', icon: FolderKanban, section: 'Organization', order: 1, key: 'p' },
  },
];
