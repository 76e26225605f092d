/** `/device`: where a person types the code that a program shows. It logs in for this one decision and out again. */
import type { App } from '../http/app.js';
import { BRAND } from '../http/look.js';
import { PAGE_STYLE, pagePolicy } from '../mail/link-pages.js';

const SCRIPT = `
const $ = (id) => document.getElementById(id), say = $('say'), ROLES = ['viewer', 'member', 'admin', 'owner'];
let token, userCode, orgs = [];
async function call(path, body) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: 'Bearer ' + token } : {}) };
  const answer = await fetch('v1/auth/' + path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) });
  const reply = await answer.json();
  if (!answer.ok) throw new Error(reply.error);
  return reply;
}
async function leave(text) {
  say.textContent = text;
  if (token) await call('logout').catch(() => {});
  token = undefined;
}
function options(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, value === chosen)));
}
function showRoles() {
  const { role } = orgs.find(({ id }) => id === $('org').value);
  const allowed = ROLES.slice(0, ROLES.indexOf(role) + 1);
  options($('role'), allowed.map((name) => [name, name]), role);
}
$('login').addEventListener('submit', async (event) => {
  event.preventDefault();
  say.textContent = 'One moment …';
  userCode = $('code').value.trim();
  try {
    ({ token } = await call('login', { email: $('email').value, password: $('password').value }));
    const found = await call('device/lookup', { userCode });
    orgs = found.orgs;
    const { client, hostname, ip } = found.device;
    $('what').textContent = 'It calls itself ' + client + (hostname ? ' on ' + hostname : '') + ' (unverified), from ' + ip + '.';
    options($('org'), orgs.map(({ id, name }) => [id, name]));
    showRoles();
    $('login').hidden = true;
    $('decide').hidden = false;
    say.textContent = '';
  } catch (error) {
    await leave(error.message);
  }
});
$('org').addEventListener('change', showRoles);
$('decide').addEventListener('submit', async (event) => {
  event.preventDefault();
  const deny = event.submitter.id === 'deny';
  try {
    if (deny) await call('device/deny', { userCode });
    else await call('device/approve', { userCode, orgId: $('org').value, role: $('role').value });
    $('decide').hidden = true;
    await leave(deny ? 'Denied. Nothing was let in.' : 'Approved. Go back to the program.');
  } catch (error) {
    say.textContent = error.message;
  }
});
`;

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Let a device in</title>
<style>${PAGE_STYLE}</style>
${BRAND}
<main>
<h1>Let a device in</h1>
<form id="login">
<p>Type the code that the program shows. If somebody sent you a code, do not: it lets them in as you.</p>
<label>Code<input id="code" autocomplete="off" autocapitalize="characters" maxlength="12" required></label>
<label>E-mail<input id="email" type="email" autocomplete="username" required></label>
<label>Password<input id="password" type="password" autocomplete="current-password" maxlength="256" required></label>
<button>Go on</button>
</form>
<form id="decide" hidden>
<p id="what"></p>
<label>Organization<select id="org"></select></label>
<label>With at most the role<select id="role"></select></label>
<button id="approve">Approve</button>
<button id="deny">Deny</button>
</form>
<output id="say" role="status"></output>
<noscript>This page needs JavaScript.</noscript>
</main>
<script>${SCRIPT}</script>
</html>
`;

export function devicePageRoute(app: App): void {
  app.get('/device', async (_request, reply) => {
    void reply.header('content-security-policy', pagePolicy(SCRIPT));
    return reply.type('text/html; charset=utf-8').send(HTML);
  });
}
