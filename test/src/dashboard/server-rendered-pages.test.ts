/** Pages that the control plane renders itself: targets of e-mail links, device login, provider status. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const PAGES = ['verify-email', 'reset-password', 'accept-invitation', 'device'];

test.each(PAGES)('renders /%s accessibly in both themes and widths', async (name) => {
  const visitor = await dashboard().openBrowserUser();
  if (name === 'accept-invitation') visitor.expectHttpError(400, /\/v1\/invitations\/lookup$/); // no such token
  await visitor.page.goto(`${visitor.url}/${name}#token=x`);
  await visitor.checkPage(name);
});

test('renders /status accessibly and links to its JSON', async () => {
  const visitor = await dashboard().openBrowserUser();
  const { page } = visitor;
  // The page must not refresh itself during the check.
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
