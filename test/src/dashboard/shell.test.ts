/** What every screen has around it. */
import { expect, test } from 'vitest';
import { useDashboard } from './dashboard.js';

const dashboard = useDashboard();

test('shell: overview without any traffic', async () => {
  const { visitor } = await dashboard().owner();
  await visitor.visit('/', 'overview-empty');
});

test('shell: menu, theme, palette and keyboard help can be used and read', async () => {
  const { visitor } = await dashboard().owner();
  const { page } = visitor;
  const scheme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme');
  await page.getByRole('button', { name: 'Theme' }).click();
  await visitor.inspect('theme-menu');
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  expect(await scheme()).toBe('dark');
  await page.reload();
  await visitor.settled();
  expect(await scheme()).toBe('dark');

  await page.keyboard.press('Control+k');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('as light');
  await page.getByRole('textbox', { name: 'Search and commands' }).fill('light');
  await page.keyboard.press('Enter');
  await page.waitForFunction('document.documentElement.dataset.mantineColorScheme === "light"');

  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

test('shell: an address that is nobody’s says so', async () => {
  const { visitor } = await dashboard().owner();
  await visitor.visit('/no/such/page', 'not-found');
  await visitor.page.getByRole('link', { name: 'To the overview' }).click();
  await visitor.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
});

test('shell: while the gateway does not answer, a banner says so; when it does again, the banner goes', async () => {
  const { visitor } = await dashboard().owner();
  const { page } = visitor;
  await page.route('**/v1/**', (route) => route.abort());
  visitor.expectFailure(0, /./);
  await page.getByText('24h').click();
  await page.getByText('The gateway does not answer').first().waitFor();
  await page.unroute('**/v1/**');
  await page.getByText('What you see may be old.').waitFor({ state: 'detached' });
});

test('shell: on a phone the navigation is a drawer', async () => {
  const { visitor } = await dashboard().owner();
  const { page } = visitor;
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Navigation' }).click();
  await page.getByRole('link', { name: 'Overview' }).last().click();
});
