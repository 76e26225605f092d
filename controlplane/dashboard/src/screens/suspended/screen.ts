import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [
  { path: '/suspended', load: async () => (await import('./suspended.js')).Suspended },
];
