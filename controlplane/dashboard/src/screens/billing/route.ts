import { ReceiptText } from 'lucide-react';
import type { ScreenDefinition } from '../screen-definition.js';

export const screens: readonly ScreenDefinition[] = [
  {
    path: '/billing',
    load: async () => (await import('./billing-page.js')).BillingPage,
    nav: { label: 'Bill check', icon: ReceiptText, section: 'Traffic', order: 4, key: 'b' },
  },
];
