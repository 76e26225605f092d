import { Webhook } from 'lucide-react';
import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  {
    path: '/webhooks',
    load: async () => (await import('./webhooks.js')).Webhooks,
    nav: { label: 'Webhooks', icon: Webhook, section: 'Traffic', order: 8, key: 'w' },
  },
  { path: '/webhooks/:id', load: async () => (await import('./endpoint.js')).EndpointPage },
];
