/** The pages that the control plane makes itself: behind the links of mails, for codes of devices, how providers are. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const PAGES = ['verify-email', 'reset-password', 'accept-invitation', 'device'];

test.each(PAGES)('own pages: /%s can be read by all, on every screen', async (name) => {
  const visitor = await dashboard().openBrowserUser();
  await visitor.page.goto(`${visitor.url}/${name}#token=x`);
  await visitor.checkPage(name);
});

test('own pages: /status can be read by all, on every screen, and leads to the same as data', async () => {
  const visitor = await dashboard().openBrowserUser();
  const { page } = visitor;
  // While it is looked at it must not load itself anew.
  await page.route(`${visitor.url}/status`, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<meta http-equiv="refresh"[^>]*>/, '');
    await route.fulfill({ response, body });
  });
  await page.goto(`${visitor.url}/status`);
  await page.getByRole('heading', { name: 'All providers are operational' }).waitFor();
  expect(await page.getByRole('listitem').allTextContents()).toContain('OpenAIoperational');
  await visitor.checkPage('status');
  await page.getByRole('link', { name: '/v1/status' }).click();
  await page.waitForURL(`${visitor.url}/v1/status`);
});
