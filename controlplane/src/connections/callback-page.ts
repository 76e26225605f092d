/**
 * The page to which providers send the browser back after a person has agreed. It posts the answer to its own origin,
 * where session and role are checked: browsers withhold the strict session cookie from a navigation that began at the
 * provider.
 */
import { PAGE_HEADER } from '../http/page-style.js';
import { buildPagePolicy, FORM_PAGE_STYLE } from '../mail/link-pages.js';

const SCRIPT = `
const message = document.querySelector('output'), query = new URLSearchParams(location.search);
const body = { redirectPath: location.pathname };
for (const name of ['state', 'code', 'iss', 'error']) if (query.has(name)) body[name] = query.get(name);
history.replaceState(null, '', location.pathname);
const show = (title, text) => {
  document.querySelector('h1').textContent = title;
  message.textContent = text;
};
(async () => {
  try {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch('../../../v1/connections', options);
    const answer = await response.json();
    if (response.ok) {
      const page = answer.accountId === null ? '?tab=shared&credential=' + answer.credentialId : '/accounts/' + answer.accountId;
      document.querySelector('p a').href = '../../../providers' + page;
      show('Connected', 'The gateway can use the account now.');
    } else if (response.status === 401) show('Not connected', 'Your session has ended. Log in to the dashboard and connect again.');
    else show('Not connected', answer.error);
  } catch {
    show('Not connected', 'The server cannot be reached. Start again in the dashboard.');
  }
})();
`;

export const CONNECT_PAGE_POLICY = buildPagePolicy(SCRIPT);

export const CONNECT_PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Connect an account</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1>Connecting …</h1>
<output role="status">Please wait …</output>
<p><a href="../../../">Back to the dashboard</a></p>
</main>
<script>${SCRIPT}</script>
</html>
`;
