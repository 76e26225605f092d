/**
 * The page behind the link of an invitation. It says who invites to what as which role, shows the one form that fits the
 * address, and ends logged in. The token is in the fragment, which browsers never send to a server.
 */
import type { App } from '../http/app.js';
import { PAGE_HEADER } from '../http/page-style.js';
import { buildPagePolicy, FORM_PAGE_STYLE } from './link-pages.js';

const SCRIPT = `
const find = (id) => document.getElementById(id), form = find('form'), message = find('message'), next = find('next');
const token = new URLSearchParams(location.hash.slice(1)).get('token');
history.replaceState(null, '', location.pathname);
const call = async (path, body, headers) => {
  const options = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  if (body) options.body = JSON.stringify(body);
  const response = await fetch(path, options);
  return { ok: response.ok, reply: await response.json() };
};
const show = (id) => { find(id).hidden = false; for (const input of find(id).querySelectorAll('input')) input.disabled = false; };
const UNREACHABLE = 'The server cannot be reached. Try again.';
const fail = (text) => { message.textContent = text; next.hidden = false; };
let email = '';

const load = async () => {
  const { ok, reply } = await call('v1/invitations/lookup', { token });
  if (!ok) return fail(reply.error);
  ({ email } = reply);
  const inviter = reply.inviter ? (reply.inviter.name + ' (' + reply.inviter.email + ')') : 'A member who has left';
  find('title').textContent = 'Join ' + reply.orgName;
  find('who').textContent = inviter + ' invites you to the organization ' + reply.orgName + ' as ' + reply.role + '.';
  find('address').textContent = email;
  find('intro').hidden = false;
  message.textContent = '';
  if (reply.sso) find('sso').hidden = false;
  if (reply.ssoRequired) return;
  if (reply.account === 'new') { show('name-field'); show('new-field'); }
  if (reply.account === 'unconfirmed') show('new-field');
  if (reply.account === 'existing') show('password-field');
  find('hint').textContent = { session: 'You are logged in with this address.', existing: 'Log in to your account to join.' }[reply.account] || '';
  form.hidden = false;
};

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const body = { token };
  for (const input of form.querySelectorAll('input:enabled')) if (input.value !== '') body[input.name] = input.value;
  const button = find('accept');
  button.disabled = true;
  message.textContent = 'Please wait …';
  try {
    const { ok, reply } = await call('v1/invitations/accept', body);
    if (!ok) {
      if (reply.secondFactor) { show('code-field'); find('code-field').querySelector('input').focus(); }
      message.textContent = reply.error;
    } else {
      const session = await call('v1/session', null, { authorization: 'Bearer ' + reply.token });
      if (session.ok) return location.replace('./');
      form.hidden = true;
      fail('You are now a member. Log in to start.');
    }
  } catch {
    message.textContent = UNREACHABLE;
  }
  button.disabled = false;
});
find('show').addEventListener('click', ({ currentTarget }) => {
  const inputs = [...form.querySelectorAll('input[name=password]')], hide = inputs[0].type === 'text';
  for (const input of inputs) input.type = hide ? 'password' : 'text';
  currentTarget.textContent = hide ? 'Show password' : 'Hide password';
});
find('sso-start').addEventListener('click', async () => {
  message.textContent = 'Please wait …';
  try {
    const { ok, reply } = await call('v1/sso/start', { email });
    if (ok) return location.assign(reply.url);
    message.textContent = reply.error;
  } catch {
    message.textContent = UNREACHABLE;
  }
});
if (token) load().catch(() => fail(UNREACHABLE));
else fail('This link is incomplete. Open it from the mail again.');
`;

const POLICY = buildPagePolicy(SCRIPT);

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Accept the invitation</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1 id="title">Accept the invitation</h1>
<div id="intro" hidden>
<p id="who"></p>
<p>You join with the address <strong id="address"></strong>.</p>
</div>
<div id="sso" hidden><button id="sso-start" type="button">Continue with single sign-on</button></div>
<form id="form" hidden>
<p id="hint"></p>
<label id="name-field" hidden>Your name<input name="name" autocomplete="name" maxlength="80" required disabled></label>
<label id="new-field" hidden>New password<small>At least 10 characters</small><input name="password" type="password" autocomplete="new-password" minlength="10" maxlength="256" required disabled></label>
<label id="password-field" hidden>Account password<input name="password" type="password" autocomplete="current-password" maxlength="256" required disabled></label>
<label id="code-field" hidden>Authentication code<small>Of your app, or a recovery code</small><input name="code" autocomplete="one-time-code" maxlength="40" disabled></label>
<button id="accept">Join</button>
<button id="show" type="button">Show password</button>
</form>
<output id="message" role="status">Please wait …</output>
<nav id="next" hidden><a href="./">Go to the dashboard</a></nav>
<noscript>Without JavaScript, send the API call from the mail.</noscript>
</main>
<script>${SCRIPT}</script>
</html>
`;

export function invitationPageRoute(app: App): void {
  app.get('/accept-invitation', async (_request, reply) => {
    void reply.header('content-security-policy', POLICY);
    return reply.type('text/html; charset=utf-8').send(HTML);
  });
}
