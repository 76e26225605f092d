/**
 * `/device`: the page on which a user types the code that a program shows. It logs in for this one decision and logs
 * out afterwards.
 */
import type { App } from '../../http/app.js';
import { PAGE_HEADER } from '../../http/page-style.js';
import { buildPagePolicy, FORM_PAGE_STYLE } from '../../mail/link-pages.js';

const SCRIPT = `
const $ = (id) => document.getElementById(id), message = $('message'), ROLES = ['viewer', 'member', 'admin', 'owner'];
let token, userCode, orgs = [], busy = false;
async function callApi(path, body) {
  const headers = { 'content-type': 'application/json', ...(token ? { authorization: 'Bearer ' + token } : {}) };
  const response = await fetch('v1/auth/' + path, { method: 'POST', headers, body: JSON.stringify(body ?? {}) }).catch(() => null);
  const reply = await response?.json().catch(() => null);
  if (response?.ok && reply) return reply;
  const rejection = response?.status < 500 && reply?.error;
  throw Object.assign(new Error(rejection || 'The gateway does not respond. Try again.'), { rejection, secondFactor: reply?.secondFactor });
}
function showForm(form, focused) {
  $('login').hidden = form !== 'login';
  $('decide').hidden = form !== 'decide';
  $(focused).focus();
}
function logOutAndShow(text) {
  message.textContent = text;
  // Not awaited: the user can continue at once.
  if (token) callApi('logout').catch(() => {});
  token = undefined;
}
function onSubmit(form, work) {
  $(form).addEventListener('submit', async (event) => {
    event.preventDefault();
    // Ignores a second submit while one is in flight: it would log in twice, or report the approved code as unknown.
    if (busy) return;
    busy = true;
    message.textContent = 'Please wait …';
    await work(event);
    busy = false;
  });
}
function fillSelect(select, values, chosen) {
  select.replaceChildren(...values.map(([value, text]) => new Option(text, value, false, value === chosen)));
}
function showRoles() {
  const { role } = orgs.find(({ id }) => id === $('org').value);
  const allowed = ROLES.slice(0, ROLES.indexOf(role) + 1);
  fillSelect($('role'), allowed.map((name) => [name, name]), role);
}
async function showDevice() {
  const found = await callApi('device/lookup', { userCode });
  orgs = found.orgs;
  const { client, hostname, ip } = found.device;
  $('what').textContent = 'It calls itself ' + client + (hostname ? ' on ' + hostname : '') + ' (unverified), from ' + ip + '.';
  fillSelect($('org'), orgs.map(({ id, name }) => [id, name]));
  showRoles();
  $('password').value = $('factor').value = message.textContent = '';
  showForm('decide', 'what');
}
// People of single sign-on have no password: the session of this browser approves, if its login was just now.
$('session').addEventListener('click', async () => {
  if (busy || !$('code').reportValidity()) return;
  busy = true;
  userCode = $('code').value.trim();
  message.textContent = 'Please wait …';
  try { await showDevice(); } catch (error) { message.textContent = error.message; }
  busy = false;
});
onSubmit('login', async () => {
  userCode = $('code').value.trim();
  try {
    const factor = $('factor').value ? { code: $('factor').value } : {};
    ({ token } = await callApi('login', { email: $('email').value, password: $('password').value, ...factor }));
    await showDevice();
  } catch (error) {
    logOutAndShow(error.message);
    if (error.secondFactor) {
      $('second').hidden = false;
      $('factor').focus();
    }
  }
});
$('org').addEventListener('change', showRoles);
onSubmit('decide', async (event) => {
  const deny = event.submitter.id === 'deny';
  try {
    if (deny) await callApi('device/deny', { userCode });
    else await callApi('device/approve', { userCode, orgId: $('org').value, role: $('role').value });
    showForm('', 'message');
    logOutAndShow(deny ? 'Denied. The device has no access.' : 'Approved. Return to the program.');
  } catch (error) {
    if (!error.rejection) return void (message.textContent = error.message);
    // E.g. the code has expired or was decided in another window.
    showForm('login', 'code');
    logOutAndShow(error.message);
  }
});
`;

const HTML = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Connect a device</title>
<style>${FORM_PAGE_STYLE}</style>
${PAGE_HEADER}
<main>
<h1>Connect a device</h1>
<form id="login">
<p>Enter the code that the program shows. Never enter a code that another person sent you: it gives them access to your account.</p>
<label>Code<input id="code" autocomplete="off" autocapitalize="characters" minlength="8" maxlength="12" required></label>
<label>E-mail<input id="email" type="email" autocomplete="username" required></label>
<label>Password<input id="password" type="password" autocomplete="current-password" maxlength="256" required></label>
<label id="second" hidden>Second factor<input id="factor" autocomplete="one-time-code" maxlength="40"></label>
<button>Continue</button>
<button id="session" type="button">Use the login of this browser (single sign-on)</button>
</form>
<form id="decide" hidden>
<p id="what" tabindex="-1"></p>
<label>Organization<select id="org"></select></label>
<label>Maximum role<select id="role"></select></label>
<button id="approve">Approve</button>
<button id="deny">Deny</button>
</form>
<output id="message" role="status" tabindex="-1"></output>
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
