import type { Screen } from '../screen.js';

export const screens: readonly Screen[] = [{ path: '/setup', load: async () => (await import('./setup.js')).Setup }];
