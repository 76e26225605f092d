import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  { path: '/setup', load: async () => (await import('./setup-wizard-page.js')).SetupWizardPage },
];
