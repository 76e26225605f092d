/** `/device`: where a person types the code that a program shows. It logs in for this one decision and out again. */
import type { App } from '../../http/app.js';
import { PAGE_HEADER } from '../../http/page-style.js';
import { buildPagePolicy, FORM_PAGE_STYLE } from '../../mail/link-pages.js';

const SCRIPT = `
const $ = (id) => document.getElementById(id), say = $('say'), ROLES = ['viewer', 'member', 'admin', 'owner'];
let token, userCode, orgs = [], busy = false;
async function call(path, body) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: 'Bearer ' + token } : {}) };
  const answer = await fetch('v1/auth/' + path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) }).catch(() => null);
  const reply = await answer?.json().catch(() => null);
  if (answer?.ok && reply) return reply;
  const refused = answer?.status < 500 && reply?.error;
  throw Object.assign(new Error(refused || 'The gateway does not answer. Try again.'), { refused });
}
function show(form, focused) {
  $('login').hidden = form !== 'login';
  $('decide').hidden = form !== 'decide';
  $(focused).focus();
}
function leave(text) {
  say.textContent = text;
  // Not waited for: who reads what was said may go on at once.
  if (token) call('logout').catch(() => {});
  token = undefined;
}
function on(form, work) {
  $(form).addEventListener('submit', async (event) => {
    event.preventDefault();
    // A second press while the first is under way would log in twice, or call what has just been approved unknown.
    if (busy) return;
    busy = true;
    say.textContent = 'One moment …';
    await work(event);
    busy = false;
  });
}
function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, value === chosen)));
}
function showRoles() {
  const { role } = orgs.find(({ id }) => id === $('org').value);
  const allowed = ROLES.slice(0, ROLES.indexOf(role) + 1);
  options($('role'), allowed.map((name) => [name, name]), role);
}
on('login', async () => {
  userCode = $('code').value.trim();
  try {
    ({ token } = await call('login', { email: $('email').value, password: $('password').value }));
    const found = await call('device/lookup', { userCode });
    orgs = found.orgs;
    const { client, hostname, ip } = found.device;
    $('what').textContent = 'It calls itself ' + client + (hostname ? ' on ' + hostname : '') + ' (unverified), from ' + ip + '.';
    options($('org'), orgs.map(({ id, name }) => [id, name]));
    showRoles();
    $('password').value = say.textContent = '';
    show('decide', 'what');
  } catch (error) {
    leave(error.message);
  }
});
$('org').addEventListener('change', showRoles);
on('decide', async (event) => {
  const deny = event.submitter.id === 'deny';
  try {
    if (deny) await call('device/deny', { userCode });
    else await call('device/approve', { userCode, orgId: $('org').value, role: $('role').value });
    show('', 'say');
    leave(deny ? 'Denied. Nothing was let in.' : 'Approved. Go back to the program.');
  } catch (error) {
    if (!error.refused) return void (say.textContent = error.message);
    // E.g. the code has become too old, or was decided in another window: nothing here can be decided any more.
    show('login', 'code');
    leave(error.message);
  }
});
`;

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Let a device in</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1>Let a device in</h1>
<form id="login">
<p>Type the code that the program shows. If somebody sent you a code, do not: it lets them in as you.</p>
<label>Code<input id="code" autocomplete="off" autocapitalize="characters" minlength="8" maxlength="12" required></label>
<label>E-mail<input id="email" type="email" autocomplete="username" required></label>
<label>Password<input id="password" type="password" autocomplete="current-password" maxlength="256" required></label>
<button>Go on</button>
</form>
<form id="decide" hidden>
<p id="what" tabindex="-1"></p>
<label>Organization<select id="org"></select></label>
<label>With at most the role<select id="role"></select></label>
<button id="approve">Approve</button>
<button id="deny">Deny</button>
</form>
<output id="say" role="status" tabindex="-1"></output>
<noscript>This page needs JavaScript.</noscript>
</main>
<script>${SCRIPT}</script>
</html>
`;

export function devicePageRoute(app: App): void {
  app.get('/device', async (_request, reply) => {
    void reply.header('content-security-policy', buildPagePolicy(SCRIPT));
    return reply.type('text/html; charset=utf-8').send(HTML);
  });
}
