import { Bot } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/agents',
    load: async () => (await import('./agents.js')).Agents,
    nav: { label: 'Agents', icon: Bot, section: 'Access', order: 1, key: 'a' },
  },
  { path: '/agents/compare', load: async () => (await import('./compare.js')).Compare },
  { path: '/agents/:id', load: async () => (await import('./agent.js')).AgentPage },
];
