import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  { path: '/suspended', load: async () => (await import('./suspended-items-page.js')).SuspendedItemsPage },
];
