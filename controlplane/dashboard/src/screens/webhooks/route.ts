import { Webhook } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/webhooks',
    load: async () => (await import('./webhooks-page.js')).WebhooksPage,
    nav: { label: 'Webhooks', icon: Webhook, section: 'Traffic', order: 8, key: 'w' },
  },
  { path: '/webhooks/:id', load: async () => (await import('./endpoint-page.js')).EndpointPage },
];
