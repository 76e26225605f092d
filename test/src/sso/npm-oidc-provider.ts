/**
 * The npm package `oidc-provider`, a certified OpenID provider, with a log-in page of one button. It shares no code with
 * the gateway.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, Provider } from 'oidc-provider';

export const CLIENT = { clientId: 'gateway', clientSecret: 'the secret of the gateway at this provider' } as const;
const LOGIN_PAGE = `<!doctype html>
<html lang="en">
<title>Identity provider</title>
<main><h1>Identity provider</h1><form method="post"><button>Log in as Ada</button></form></main>
</html>`;

interface Person {
  readonly email: string;
  readonly name: string;
}

export class NpmOidcProvider {
  readonly #server: Server = createServer();
  issuer = '';

  /** Starts to listen; {@link serve} begins to answer. */
  static async listen(): Promise<NpmOidcProvider> {
    const started = new NpmOidcProvider();
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve));
    started.issuer = `http://127.0.0.1:${(started.#server.address() as AddressInfo).port}`;
    return started;
  }

  serve(redirectUri: string, person: Person): void {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [redirectUri],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      pkce: { required: () => true },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      cookies: { keys: ['a key of this test'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: Context, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, email_verified: true, ...person }),
      }),
      // Grants what the gateway requests, without a question.
      loadExistingGrant: async ({ oidc }: Context) => {
        const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    this.#server.on('request', (request, response) => {
      if (!request.url?.startsWith('/interaction/')) answer(request, response);
      else if (request.method === 'POST')
        void provider.interactionFinished(request, response, { login: { accountId: 'person-1' } });
      else response.setHeader('content-type', 'text/html').end(LOGIN_PAGE);
    });
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}
