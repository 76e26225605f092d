import { Workflow } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/runs',
    load: async () => (await import('./runs-page.js')).RunsPage,
    nav: { label: 'Runs', icon: Workflow, section: 'Traffic', order: 6, key: 'j' },
  },
  { path: '/runs/:id', load: async () => (await import('./run-tree-page.js')).RunTreePage },
];
