/** Follows the links of real e-mails as a browser would: the page's script runs on a document built from its HTML. */
import { createHash, randomBytes } from 'node:crypto';
import { runInNewContext } from 'node:vm';
import { expect, test, vi } from 'vitest';
import { useControlPlane } from '../fixtures/control-plane.js';

const plane = useControlPlane();
const newEmail = () => `${randomBytes(5).toString('hex')}@example.com`;

interface LoadedPage {
  /** Text of the page. */
  readonly said: () => string;
  readonly formHidden: () => boolean;
  readonly address: () => string;
  submit(values: Readonly<Record<string, string>>): Promise<void>;
}

/** Loads the page, checks its policy against its script, and runs that. */
async function loadPage(link: string): Promise<LoadedPage> {
  const url = new URL(link);
  const response = await fetch(`${plane().url}${url.pathname}`);
  const html = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  const script = /<script>(.*)<\/script>/s.exec(html)![1]!;
  const style = /<style>(.*)<\/style>/s.exec(html)![1]!;
  for (const text of [script, style]) {
    const hash = `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    expect(response.headers.get('content-security-policy')).toContain(hash);
  }
  const inputs = [...html.matchAll(/<input name="([^"]+)"/g)].map((match) => ({ name: match[1]!, value: '' }));
  let submitted: (event: { preventDefault(): void }) => Promise<void> = async () => {};
  const button = { disabled: false };
  const form = {
    hidden: false,
    dataset: {
      endpoint: /data-endpoint="([^"]+)"/.exec(html)![1]!,
      done: /data-done="([^"]+)"/.exec(html)![1]!,
    },
    querySelector: () => button,
    querySelectorAll: () => inputs,
    addEventListener: (_name: string, listener: typeof submitted) => {
      submitted = listener;
    },
  };
  const output = { textContent: '' };
  let address = link;
  runInNewContext(script, {
    URLSearchParams,
    document: { querySelector: (name: string) => (name === 'form' ? form : output) },
    location: { hash: url.hash, pathname: url.pathname },
    history: {
      replaceState(_state: null, _title: string, path: string) {
        address = path;
      },
    },
    fetch: (path: string, options: RequestInit) => fetch(new URL(path, plane().url + url.pathname), options),
  });
  return {
    said: () => output.textContent,
    formHidden: () => form.hidden,
    address: () => address,
    async submit(values) {
      for (const input of inputs) input.value = values[input.name] ?? '';
      const preventDefault = vi.fn();
      await submitted({ preventDefault });
      expect(preventDefault).toHaveBeenCalledOnce();
    },
  };
}

const extractLink = (text: string): string => /https?:\S+#token=\S+/.exec(text)![0];

test('links: verification and reset succeed once and explain the failure the second time', async () => {
  const email = newEmail();
  const body = { email, password: 'the first password', name: 'Ada', orgName: 'Links' };
  const { token } = (await plane().call('POST', '/v1/auth/signup', { body })).body;

  const verify = extractLink((await plane().waitForMail(email, 'Confirm')).text);
  const first = await loadPage(verify);
  expect(first.address()).toBe('/verify-email'); // the token is no longer in the address bar
  await first.submit({ password: 'what the reader of the mailbox guesses' });
  expect([first.said(), first.formHidden()]).toEqual([
    expect.stringContaining('not the password of the account'),
    false,
  ]);
  await first.submit({ password: 'the first password' });
  expect([first.said(), first.formHidden()]).toEqual(['Your e-mail address is confirmed.', true]);
  const again = await loadPage(verify);
  await again.submit({ password: 'the first password' });
  expect([again.said(), again.formHidden()]).toEqual([expect.stringContaining('unknown, used or expired'), false]);

  await plane().call('POST', '/v1/auth/forgot-password', { body: { email } });
  const reset = await loadPage(extractLink((await plane().waitForMail(email, 'new password')).text));
  await reset.submit({ password: 'short' });
  expect(reset.said()).toContain('password must NOT have fewer than 10 characters');
  await reset.submit({ password: 'the second password' });
  expect(reset.formHidden()).toBe(true);
  const login = await plane().call('POST', '/v1/auth/login', { body: { email, password: 'the second password' } });
  expect(login.status).toBe(200);
  expect((await plane().call('GET', '/v1/me', { token })).status).toBe(401);
});

test('links: a link without its token is reported', async () => {
  const page = await loadPage('http://127.0.0.1/verify-email');
  expect(page.said()).toContain('This link is incomplete');
});
