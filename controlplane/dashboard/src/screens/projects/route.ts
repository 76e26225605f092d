import { FolderKanban } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/projects',
    load: async () => (await import('./projects-page.js')).ProjectsPage,
    nav: { label: 'Projects', icon: FolderKanban, section: 'Organization', order: 1, key: 'p' },
  },
  { path: '/projects/:id', load: async () => (await import('./project-page.js')).ProjectPage },
];
