/** The pages that the control plane makes itself: behind the links of mails, and for codes of devices. */
import { test } from 'vitest';
import { useDashboard } from './dashboard.js';

const dashboard = useDashboard();
const PAGES = ['verify-email', 'reset-password', 'accept-invitation', 'device'];

test.each(PAGES)('own pages: /%s can be read by all, on every screen', async (name) => {
  const visitor = await dashboard().open();
  await visitor.page.goto(`${visitor.url}/${name}#token=x`);
  await visitor.inspect(name);
});
