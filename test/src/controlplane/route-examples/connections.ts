import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCookieSecret } from '@acg/controlplane/auth/sessions/session-cookie';
import { createBrowserSession } from './identity.js';
import { newAgent } from './provisioning.js';
import type { ExampleContext, Examples } from './route-example.js';

const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };
const UNAUDITED_REASON = 'nothing is connected yet';
const CREDENTIALS = { method: 'connect', clientId: 'client-1', clientSecret: 'secret-0123456789' };

let tokenEndpoint: Promise<string> | null = null;
/** Answers every request with a token. */
function sharedTokenEndpoint(): Promise<string> {
  tokenEndpoint ??= new Promise((resolve) => {
    const answer = JSON.stringify({ access_token: 'at-0123456789', token_type: 'Bearer', expires_in: 3_600 });
    const server = createServer((_request, response) => response.end(answer));
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/token`));
    server.unref();
  });
  return tokenEndpoint;
}

async function newProviderSlug({ owner }: ExampleContext): Promise<string> {
  const slug = `app-${randomBytes(4).toString('hex')}`;
  const fields = [
    { name: 'clientId', label: 'Client id', secret: false, required: true },
    { name: 'clientSecret', label: 'Client secret', secret: true, required: true },
  ];
  const token = {
    url: await sharedTokenEndpoint(),
    authorizationUrl: 'https://login.example.com/authorize',
    clientId: '{clientId}',
    clientSecret: '{clientSecret}',
  };
  const inject = [{ header: 'authorization', value: 'Bearer {accessToken}' }];
  const methods = [{ name: 'connect', label: 'Connect', kind: 'oauth2_authorization_code', fields, token, inject }];
  const definition = {
    credentials: { kind: 'api_key', fields: [], methods },
    origins: { default: 'http://127.0.0.1:9' },
    inject: [],
    usage: { format: 'none' },
  };
  await owner.call('POST', '/v1/custom-providers', { slug, displayName: slug, definition });
  return slug;
}

async function newConnectableAccount(context: ExampleContext): Promise<string> {
  const { id: agentId } = await newAgent(context);
  const body = { agentId, providerSlug: await newProviderSlug(context), credentials: CREDENTIALS };
  return (await context.owner.call('POST', '/v1/providers/accounts', body)).body.account.id;
}

async function newConnectableCredential(context: ExampleContext): Promise<string> {
  const body = { name: 'Team', providerSlug: await newProviderSlug(context), credentials: CREDENTIALS };
  return (await context.owner.call('POST', '/v1/credentials', body)).body.credential.id;
}

export const CONNECTION_EXAMPLES: Examples = {
  'POST /v1/providers/accounts/:id/connect': {
    prepare: async (context) => ({ params: { id: await newConnectableAccount(context) }, headers: OWN_PAGE }),
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/providers/accounts/:id/disconnect': {
    prepare: async (context) => ({ params: { id: await newConnectableAccount(context) } }),
  },
  'POST /v1/credentials/:id/connect': {
    prepare: async (context) => ({ params: { id: await newConnectableCredential(context) }, headers: OWN_PAGE }),
    unaudited: UNAUDITED_REASON,
  },
  'POST /v1/credentials/:id/disconnect': {
    prepare: async (context) => ({ params: { id: await newConnectableCredential(context) } }),
  },
  'POST /v1/connections': {
    async prepare(context) {
      const { plane, owner, caller } = context;
      const accountId = await newConnectableAccount(context);
      const { secret, hash } = createCookieSecret();
      const state = randomBytes(16).toString('hex');
      const redirectPath = `/connect/${owner.orgId}/${state}/callback`;
      await plane.database.sql`
        insert into oauth_connects (state_hash, org_id, account_id, user_id, browser_hash, code_verifier, redirect_uri,
                                    expires_at)
        values (${createHash('sha256').update(state).digest()}, ${owner.orgId}, ${accountId},
                ${(caller ?? owner).userId}, ${hash}, ${'v'.repeat(43)},
                ${new URL(plane.config.publicUrl).origin + redirectPath}, now() + interval '1 minute')`;
      const body = { redirectPath, state, code: 'code-0123456789' };
      if (caller === null) return { body };
      const session = await createBrowserSession(plane, caller);
      return { body, headers: { ...session, cookie: `${session.cookie}; acg_connect=${secret}` } };
    },
  },
};
