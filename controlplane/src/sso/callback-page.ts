/**
 * The page to which providers send the browser back. It loads the dashboard by a navigation of its own, because browsers
 * withhold the strict session cookie from one that began at the provider.
 */
import { escapeHtml } from '../http/html-escape-and-csp-hash.js';
import { PAGE_HEADER } from '../http/page-style.js';
import { buildPagePolicy, FORM_PAGE_STYLE } from '../mail/link-pages.js';

const LINK_SCRIPT = `
const form = document.querySelector('form'), message = document.querySelector('output');
if (form) form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = {};
  for (const input of form.querySelectorAll('input')) if (input.value !== '') body[input.name] = input.value;
  message.textContent = 'Please wait …';
  try {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch('../../v1/sso/link', options);
    if (response.ok) return location.replace('../../');
    const { error, secondFactor } = await response.json();
    if (secondFactor) document.getElementById('second').hidden = false;
    message.textContent = error;
  } catch {
    message.textContent = 'The server cannot be reached. Try again.';
  }
});
`;

export const CALLBACK_PAGE_POLICY = buildPagePolicy(LINK_SCRIPT);

const renderPage = (title: string, head: string, main: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${head}<title>${title}</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1>${title}</h1>
${main}
</main>
<script>${LINK_SCRIPT}</script>
</html>
`;

export const renderSignedInPage = (): string =>
  renderPage(
    'Logged in',
    '<meta http-equiv="refresh" content="0;url=../../">\n',
    '<p><a href="../../">Continue to the dashboard</a></p>',
  );

export const renderFailurePage = (text: string): string =>
  renderPage(
    'Single sign-on failed',
    '',
    `<p role="alert">${escapeHtml(text)}</p>\n<p><a href="../../sign-in">Back to log in</a></p>`,
  );

export const renderProveAccountPage = (email: string): string =>
  renderPage(
    'Connect your account',
    '',
    `<form>
<p>An account with the address ${escapeHtml(email)} exists. Log in to it once. From then on single sign-on logs you in.</p>
<label>Account password<input name="password" type="password" autocomplete="current-password" maxlength="256" required></label>
<label id="second" hidden>Authentication code<input name="code" autocomplete="one-time-code" maxlength="40"></label>
<button>Connect</button>
</form>
<output role="status"></output>`,
  );
