/**
 * Accounts that a person connects at the provider, in a real browser with a stand-in authorization server: consent given,
 * declined, too little, answers that count twice or belong to another session, and a session that ended in between.
 */
import { openPool } from '@acg/controlplane/db/postgres-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AcgCommand } from '../cli/acg-command.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { AuthorizationServer } from '../stand-in-providers/authorization-server.js';
import { useDashboard } from './dashboard-fixture.js';

const dashboard = useDashboard();
const server = new AuthorizationServer();
beforeAll(async () => {
  await server.start();
  server.clients.set('app-1', 'app-secret-0123456789');
});
afterAll(() => server.stop());

/** An owner with an agent that has an account to be connected. */
async function scene() {
  const { visitor, email, password } = await dashboard().signUpOwner();
  const { stack } = dashboard();
  const session: string = (await stack.call('POST', '/v1/auth/login', null, { email, password })).body.token;
  const call = (method: string, path: string, body?: unknown) => stack.call(method, path, session, body);
  const projectId: string = (await call('GET', '/v1/projects')).body.projects[0].id;
  const agentId: string = (await call('POST', '/v1/agents', { projectId, name: 'Support bot' })).body.agent.id;
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [],
      methods: [
        {
          name: 'connect',
          label: 'Connect with OAuth',
          hint: 'An OAuth application of Acme.',
          kind: 'oauth2_authorization_code',
          fields: [
            { name: 'clientId', label: 'Client ID', secret: false, required: true },
            { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
          ],
          token: {
            url: `${server.origin}/token`,
            authorizationUrl: `${server.origin}/authorize`,
            revocationUrl: `${server.origin}/revoke`,
            clientId: '{clientId}',
            clientSecret: '{clientSecret}',
            scope: 'read write',
          },
          inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
        },
      ],
    },
    origins: { default: server.origin },
    inject: [],
    usage: { format: 'none' },
  };
  expect(
    (await call('POST', '/v1/custom-providers', { slug: 'acme', displayName: 'Acme CRM', definition })).status,
  ).toBe(201);
  return { visitor, call, agentId, email, password, session };
}

type Scene = Awaited<ReturnType<typeof scene>>;

async function addAccount({ call, agentId }: Scene): Promise<string> {
  const credentials = { method: 'connect', clientId: 'app-1', clientSecret: 'app-secret-0123456789' };
  const made = await call('POST', '/v1/providers/accounts', { agentId, providerSlug: 'acme', credentials });
  expect(made.status).toBe(201);
  return made.body.account.id;
}

const stateOf = async ({ call }: Scene, id: string) =>
  (await call('GET', `/v1/providers/accounts/${id}`)).body.account.minted;

async function openConsent({ visitor }: Scene, id: string): Promise<void> {
  await visitor.goto(`/providers/accounts/${id}`);
  await visitor.page.getByRole('button', { name: 'Connect', exact: true }).click();
  await visitor.page.getByRole('heading', { name: 'Consent' }).waitFor();
}

test('adds an account, connects it, shows its state, and disconnects it with a revocation', async () => {
  const all = await scene();
  const { visitor, call } = all;
  const { page } = visitor;
  await visitor.goto('/providers');
  await page.getByRole('button', { name: 'Add account' }).first().click();
  await page.getByRole('combobox', { name: 'Agent' }).fill('support');
  await page.getByRole('option', { name: 'Support bot' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Provider' }).click();
  await page.getByRole('listbox').getByRole('option', { name: 'Acme CRM' }).click();
  await page.getByLabel('Client ID').fill('app-1');
  await page.getByLabel('Client secret').fill('app-secret-0123456789');
  await page.getByText(/\/connect\/[0-9a-f-]{36}\/acme\/callback/).waitFor();
  await page.getByRole('button', { name: 'Test and add' }).click();
  await page.getByText('not connected').waitFor();
  await page
    .getByRole('row', { name: /Support bot.*Acme CRM/ })
    .getByRole('link')
    .click();
  await page.getByText(/You allow the organization/).waitFor();
  const credential = page.getByRole('region', { name: 'Credential' });
  for (const text of ['Acme', 'Acme CRM', 'Support bot', 'your own'])
    await credential.getByText(text).first().waitFor();
  await visitor.checkPage('providers-account-not-connected');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByRole('link', { name: 'Allow', exact: true }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  expect(page.url()).not.toContain('code=');
  await visitor.checkPage('connect-callback');
  await page.getByRole('link', { name: 'Back to the dashboard' }).click();
  await page.getByRole('region', { name: 'Credential' }).getByText('read write').waitFor();
  await visitor.checkPage('providers-account-connected');
  const kept = await page.evaluate(
    'document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage])',
  );
  for (const secret of [...server.accessTokens, 'app-secret-0123456789']) expect(String(kept)).not.toContain(secret);
  const [account] = (await call('GET', '/v1/providers/accounts')).body.accounts;
  expect(account.minted).toMatchObject({ state: 'active', scope: 'read write', connectedAt: expect.any(String) });

  await page.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('dialog', { name: 'Disconnect Acme CRM' }).getByRole('button', { name: 'Disconnect' }).click();
  await page.getByText('Acme CRM disconnected').waitFor();
  await waitUntil('the grant is revoked', () => server.revoked.length === 1);
  expect(server.revoked[0]).toMatch(/^rt-/);
  expect(await stateOf(all, account.id)).toMatchObject({ state: 'not_connected', connectedAt: null });
});

test('consent that is declined or lacks a scope connects nothing, and the page says what to do', async () => {
  const all = await scene();
  const { visitor } = all;
  visitor.expectHttpError(400, /\/v1\/connections$/);
  const id = await addAccount(all);
  for (const [choice, text] of [
    ['Deny', /declined at the provider/],
    ['Allow only read', /lacks a scope/],
  ] as const) {
    await openConsent(all, id);
    await visitor.page.getByRole('link', { name: choice }).click();
    await visitor.page.getByText(text).waitFor();
    await visitor.page.getByRole('heading', { name: 'Not connected' }).waitFor();
    expect(await stateOf(all, id)).toMatchObject({ state: 'not_connected' });
  }
});

test('an answer that is replayed, or that another session sends, connects nothing', async () => {
  const all = await scene();
  const { visitor } = all;
  const { page } = visitor;
  visitor.expectHttpError(400, /\/v1\/connections$/);
  const id = await addAccount(all);
  await openConsent(all, id);
  // The attacker sends the link of an own connection to another person, who is signed in elsewhere.
  const consent = await page.getByRole('link', { name: 'Allow', exact: true }).getAttribute('href');
  const answer = await visitor.context.request.get(`${server.origin}${consent}`, { maxRedirects: 0 });
  const callback = answer.headers().location!;
  const other = await dashboard().signUpOwner();
  other.visitor.expectHttpError(400, /\/v1\/connections$/);
  await other.visitor.page.goto(callback);
  await other.visitor.page.getByText(/this connection is unknown, used or older/).waitFor();
  expect(server.tokenRequests.filter((one) => callback.includes(one.get('code') ?? 'none'))).toEqual([]);
  await page.goto(callback);
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  const { connectedAt } = await stateOf(all, id);
  await page.goto(callback);
  await page.getByText(/this connection is unknown, used or older/).waitFor();
  expect((await stateOf(all, id)).connectedAt).toBe(connectedAt);
});

test('a session that ended in between connects nothing and leads to the login', async () => {
  const all = await scene();
  const { visitor } = all;
  visitor.expectHttpError(401, /\/v1\/connections$/);
  const id = await addAccount(all);
  await openConsent(all, id);
  const headers = { 'sec-fetch-site': 'same-origin' };
  expect((await visitor.context.request.delete(`${visitor.url}/v1/session`, { headers })).status()).toBe(200);
  await visitor.page.getByRole('link', { name: 'Allow', exact: true }).click();
  await visitor.page.getByText(/Your session has ended/).waitFor();
  expect(await stateOf(all, id)).toMatchObject({ state: 'not_connected' });
});

test('a grant that the provider ended needs attention, and one click leads to Reconnect', async () => {
  const all = await scene();
  const { visitor, call } = all;
  const { page } = visitor;
  const id = await addAccount(all);
  await openConsent(all, id);
  await page.getByRole('link', { name: 'Allow', exact: true }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  server.revokeAll();
  const sql = openPool(dashboard().stack.database.url, { connectionsMax: 1, applicationName: 'test' });
  await sql`update minted_credentials set refresh_at = now(), used = true where account_id = ${id}`;
  await sql.end();
  await waitUntil('the refresh has failed', async () => (await stateOf(all, id)).state === 'reconnect_needed');
  expect((await call('GET', '/v1/attention')).body.attention).toMatchObject([
    { kind: 'reconnect_needed', total: 1, things: [{ id, agentName: 'Support bot', providerSlug: 'acme' }] },
    { kind: 'no_budget' },
  ]);
  await visitor.goto('/');
  await page.getByText('Connection ended').waitFor();
  await page.getByRole('link', { name: 'Reconnect' }).click();
  await page.getByText('The grant has expired, or somebody has revoked it.').waitFor();
  await page.getByRole('button', { name: 'Reconnect' }).click();
  await page.getByRole('link', { name: 'Allow', exact: true }).click();
  await page.getByRole('heading', { name: 'Connected' }).waitFor();
  expect(await stateOf(all, id)).toMatchObject({ state: 'active', failure: null });
});

test('acg accounts connect and acg credentials connect name the page and wait for the person', async () => {
  const all = await scene();
  const { visitor, call, session } = all;
  const { page } = visitor;
  const acg = new AcgCommand({ ACG_URL: visitor.url, ACG_TOKEN: session });
  try {
    const id = await addAccount(all);
    const credentials = { method: 'connect', clientId: 'app-1', clientSecret: 'app-secret-0123456789' };
    const body = { name: 'Team', providerSlug: 'acme', credentials };
    const shared: string = (await call('POST', '/v1/credentials', body)).body.credential.id;
    for (const [args, path] of [
      [['accounts', 'connect', 'acme', '--agent', 'support-bot'], `/providers/accounts/${id}`],
      [['credentials', 'connect', 'Team'], `/providers?tab=shared&credential=${shared}`],
    ] as const) {
      let printed = '';
      const running = acg.run([...args, '--json'], {
        onStart: (child) =>
          child.stderr!.on('data', (chunk: Buffer) => {
            printed += chunk.toString();
          }),
      });
      await waitUntil('the address is printed', () => printed.includes(`as an admin: ${visitor.url}${path}`));
      await visitor.goto(path);
      await page.getByRole('button', { name: 'Connect', exact: true }).click();
      await page.getByRole('link', { name: 'Allow', exact: true }).click();
      await page.getByRole('heading', { name: 'Connected' }).waitFor();
      const { code, json } = await running;
      expect([code, json.minted.state]).toEqual([0, 'active']);
    }
    const shown = await acg.runOk(['accounts', 'show', id]);
    expect(shown.stdout).toMatch(/state\s+active[\s\S]*scope\s+read write/);
    const late = await acg.run(['accounts', 'connect', id, '--wait', '1s']);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('was not connected')]);
  } finally {
    acg.removeHome();
  }
});

test('an MCP server is connected by discovery: the command adds the account, and its page connects it', async () => {
  const { visitor, call, session } = await scene();
  const { page } = visitor;
  server.routes.set('/mcp', ({ headers }, _body, response) => {
    const isKnown = server.accessTokens.has((headers.authorization ?? '').slice(7));
    if (!isKnown) return void response.writeHead(401, { 'www-authenticate': 'Bearer scope="read write"' }).end();
    const tools = [{ name: 'read_issue', description: 'Reads an issue', inputSchema: { type: 'object' } }];
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }));
  });
  server.serve('/.well-known/oauth-protected-resource/mcp', {
    resource: `${server.origin}/mcp`,
    authorization_servers: [server.origin],
  });
  server.serve('/.well-known/oauth-authorization-server', server.metadata);
  const definition = {
    credentials: {
      kind: 'api_key',
      fields: [],
      methods: [
        {
          name: 'connect',
          label: 'Connect with OAuth',
          kind: 'oauth2_authorization_code',
          fields: [],
          token: { discover: '/mcp' },
          inject: [{ header: 'authorization', value: 'Bearer {accessToken}' }],
        },
      ],
    },
    origins: { default: server.origin },
    inject: [],
    usage: { format: 'mcp' },
  };
  expect((await call('POST', '/v1/custom-providers', { slug: 'tools', displayName: 'Tools', definition })).status).toBe(
    201,
  );
  const acg = new AcgCommand({ ACG_URL: visitor.url, ACG_TOKEN: session });
  try {
    await acg.runOk(['accounts', 'add', 'tools', '--agent', 'support-bot', '--field', 'method=connect']);
    const { accounts } = (await call('GET', '/v1/providers/accounts')).body;
    const { id } = accounts.find(({ providerSlug }: { providerSlug: string }) => providerSlug === 'tools');
    await visitor.goto(`/providers/accounts/${id}`);
    await page.getByText('The gateway registers its own OAuth app with this server.').waitFor();
    await visitor.checkPage('providers-account-mcp-not-connected');
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await page.getByRole('link', { name: 'Allow', exact: true }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    expect(server.registrations.at(-1)).toMatchObject({ redirect_uris: [expect.stringContaining('/tools/callback')] });
    const tools = await acg.runOk(['accounts', 'tools', id]);
    expect(tools.stdout).toContain('read_issue');
  } finally {
    acg.removeHome();
  }
});
