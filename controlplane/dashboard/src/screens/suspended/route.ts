import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  { path: '/suspended', load: async () => (await import('./suspended-items-review-page.js')).SuspendedItemsReviewPage },
];
