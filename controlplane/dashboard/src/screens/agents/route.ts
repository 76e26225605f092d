import { Bot } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/agents',
    load: async () => (await import('./agents-page.js')).AgentsPage,
    nav: { label: 'Agents', icon: Bot, section: 'Access', order: 1, key: 'a' },
  },
  { path: '/agents/compare', load: async () => (await import('./compare-agents-page.js')).CompareAgentsPage },
  { path: '/agents/:id', load: async () => (await import('./agent-page.js')).AgentPage },
];
