/**
 * The pages behind the links of mails. Each page sends the link's token to one endpoint of /v1. The pages load no other
 * files; their content security policy allows only the hashes of their script and style. The token is in the fragment,
 * which browsers never send to a server, and is removed from the address bar at once.
 */
import type { App } from '../http/app.js';
import { cspSourceHash } from '../http/html-escape-and-csp-hash.js';
import { BASE_PAGE_STYLE, PAGE_HEADER } from '../http/page-style.js';

interface LinkPage {
  readonly path: string;
  readonly title: string;
  readonly endpoint: string;
  readonly fields: readonly FormField[];
  readonly action: string;
  readonly done: string;
}

interface FormField {
  readonly name: string;
  readonly label: string;
  readonly attributes: string;
}

const NEW_PASSWORD = 'type="password" autocomplete="new-password" minlength="10" maxlength="256"';
/** Relative endpoints also work where a proxy publishes the service under a path. */
const LINK_PAGES: readonly LinkPage[] = [
  {
    path: '/verify-email',
    title: 'Confirm your e-mail address',
    endpoint: 'v1/auth/verify-email',
    // Only the person who created the account knows its password, so a click alone does not confirm the address.
    fields: [
      {
        name: 'password',
        label: 'Account password',
        attributes: 'type="password" autocomplete="current-password" maxlength="256" required',
      },
    ],
    action: 'Confirm',
    done: 'Your e-mail address is confirmed.',
  },
  {
    path: '/reset-password',
    title: 'Set a new password',
    endpoint: 'v1/auth/reset-password',
    fields: [
      { name: 'password', label: 'New password (at least 10 characters)', attributes: `${NEW_PASSWORD} required` },
    ],
    action: 'Set password',
    done: 'Your password is set and all earlier sessions were revoked. Log in with the new password.',
  },
];

const LINK_PAGE_SCRIPT = `
const form = document.querySelector('form'), message = document.querySelector('output'), button = form.querySelector('button');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
history.replaceState(null, '', location.pathname);
if (!token) { message.textContent = 'This link is incomplete. Open it from the mail again.'; button.disabled = true; }
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = { token };
  for (const input of form.querySelectorAll('input')) if (input.value !== '') body[input.name] = input.value;
  button.disabled = true;
  message.textContent = 'Please wait …';
  try {
    const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(form.dataset.endpoint, options);
    const { error } = await response.json();
    form.hidden = response.ok;
    message.textContent = response.ok ? form.dataset.done : error;
  } catch {
    message.textContent = 'The server cannot be reached. Try again.';
  }
  button.disabled = false;
});
`;

/** The style of all pages with a form that this server renders itself. */
export const FORM_PAGE_STYLE = `${BASE_PAGE_STYLE}
body { min-height: 100vh; display: grid; align-content: center; justify-items: center; padding: 1rem; }
main { width: 100%; max-width: 25rem; padding: 2rem; }
p { margin: 0 0 1rem; font-size: .875rem; color: var(--quiet); }
label { display: block; font-size: .875rem; font-weight: 600; }
input, select, button { display: block; width: 100%; font: inherit; font-size: .875rem; border-radius: 8px; }
input, select { margin: .25rem 0 1rem; padding: .5rem .75rem; font-weight: 400; background: var(--field); color: inherit;
  border: 1px solid var(--edge); }
button { margin-bottom: .5rem; padding: .5rem; font-weight: 600; color: #fff; background: var(--chosen);
  border: 1px solid var(--chosen); cursor: pointer; }
small { display: block; font-weight: 400; color: var(--quiet); }
button + button { color: inherit; background: var(--field); border-color: var(--edge); }
button:disabled { opacity: .6; cursor: default; }
output { display: block; font-size: .875rem; overflow-wrap: anywhere; }
output:not(:empty) { margin-top: .5rem; }
form ~ nav { margin-top: 1rem; font-size: .875rem; }
form:not([hidden]) ~ nav { display: none; }
`;

/** Allows one script and one style, by hash, and connections to this server only. */
export const buildPagePolicy = (script: string): string =>
  `default-src 'none'; script-src ${cspSourceHash(script)}; style-src ${cspSourceHash(FORM_PAGE_STYLE)}; connect-src 'self'; ` +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const LINK_PAGE_POLICY = buildPagePolicy(LINK_PAGE_SCRIPT);

const renderField = ({ name, label, attributes }: FormField): string =>
  `<label>${label}<input name="${name}" ${attributes}></label>`;

const renderPage = ({ title, endpoint, fields, action, done }: LinkPage): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1>${title}</h1>
<form data-endpoint="${endpoint}" data-done="${done}">${fields.map(renderField).join('')}<button>${action}</button></form>
<output role="status"></output>
<nav><a href="./">Go to the dashboard</a></nav>
<noscript>Without JavaScript, send the API call from the mail.</noscript>
</main>
<script>${LINK_PAGE_SCRIPT}</script>
</html>
`;

export function linkPageRoutes(app: App): void {
  for (const page of LINK_PAGES) {
    const html = renderPage(page);
    app.get(page.path, async (_request, reply) => {
      void reply.header('content-security-policy', LINK_PAGE_POLICY);
      return reply.type('text/html; charset=utf-8').send(html);
    });
  }
}
