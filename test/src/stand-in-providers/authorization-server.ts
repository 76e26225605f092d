/**
 * A stand-in authorization server with a consent page for a real browser, written from RFC 6749 §4.1, RFC 7636, RFC 7009,
 * RFC 7591, RFC 8414, RFC 8707, RFC 9207 and the draft on client id metadata documents, without a library of the product.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface IssuedCode {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
  readonly scope: string;
  readonly resource: string | null;
}

export class AuthorizationServer {
  /** Parameters of the authorization requests, oldest first. */
  readonly requests: URLSearchParams[] = [];
  readonly tokenRequests: URLSearchParams[] = [];
  readonly revoked: string[] = [];
  readonly accessTokens = new Set<string>();
  /** Paths that the stand-in answers before its own, for metadata and servers beside it. */
  readonly routes = new Map<string, (request: IncomingMessage, body: string, response: ServerResponse) => void>();
  /** Client id → secret; null: a public client. */
  readonly clients = new Map<string, string | null>();
  /** Client id → redirect URIs of registered clients, which requests must match byte for byte. */
  readonly redirectUris = new Map<string, readonly string[]>();
  /** Whether answers carry `iss`. */
  statesIssuer = false;
  /** Reads the document of a client whose id is a URL; null: the server does not know such clients. */
  fetchDocument: ((url: string) => Promise<string>) | null = null;
  readonly registrations: Readonly<Record<string, unknown>>[] = [];
  /** How registered clients authenticate at the token endpoint. */
  registeredAuthentication: 'none' | 'client_secret_post' | 'client_secret_basic' = 'none';
  readonly #codes = new Map<string, IssuedCode>();
  /** Refresh token → the resource of its grant. */
  readonly #refreshTokens = new Map<string, string | null>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  origin = '';

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  /** Forgets clients, grants and requests, and behaves as at the start. */
  reset(): void {
    for (const list of [this.requests, this.tokenRequests, this.revoked, this.registrations]) list.length = 0;
    for (const known of [
      this.routes,
      this.clients,
      this.redirectUris,
      this.accessTokens,
      this.#refreshTokens,
      this.#codes,
    ])
      known.clear();
    this.statesIssuer = false;
    this.fetchDocument = null;
    this.registeredAuthentication = 'none';
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const url = new URL(request.url ?? '/', this.origin);
    const route = this.routes.get(url.pathname);
    if (route !== undefined) return route(request, body, response);
    if (url.pathname === '/authorize') {
      if (!(await this.#knowsClient(url.searchParams)))
        return void response.writeHead(400).end('unknown client or redirect URI');
      return this.#showConsent(url.searchParams, response);
    }
    if (request.method === 'POST' && url.pathname === '/register') return this.#register(body, response);
    if (url.pathname === '/consent') return this.#redirect(url.searchParams, response);
    const parameters = new URLSearchParams(body);
    if (request.method === 'POST' && url.pathname === '/token') return this.#grant(parameters, request, response);
    if (request.method === 'POST' && url.pathname === '/revoke') {
      this.revoked.push(parameters.get('token') ?? '');
      this.#refreshTokens.delete(parameters.get('token') ?? '');
      return void response.end();
    }
    response.writeHead(404).end();
  }

  /** RFC 8414 §2. */
  get metadata(): Record<string, unknown> {
    return {
      issuer: this.origin,
      authorization_endpoint: `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      revocation_endpoint: `${this.origin}/revoke`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: [this.registeredAuthentication],
      ...(this.statesIssuer ? { authorization_response_iss_parameter_supported: true } : {}),
      ...(this.fetchDocument === null ? {} : { client_id_metadata_document_supported: true }),
    };
  }

  serve(path: string, document: unknown): void {
    this.routes.set(path, (_request, _body, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    });
  }

  /** RFC 7591 §3. */
  #register(body: string, response: ServerResponse): void {
    const metadata = JSON.parse(body) as Record<string, unknown>;
    this.registrations.push(metadata);
    const clientId = `registered-${this.registrations.length}-${randomBytes(4).toString('hex')}`;
    const secret =
      this.registeredAuthentication === 'none' ? null : `registered-secret-${randomBytes(8).toString('hex')}`;
    this.clients.set(clientId, secret);
    this.redirectUris.set(clientId, metadata.redirect_uris as string[]);
    const answer = { ...metadata, client_id: clientId, token_endpoint_auth_method: this.registeredAuthentication };
    const withSecret = secret === null ? answer : { ...answer, client_secret: secret, client_secret_expires_at: 0 };
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(withSecret));
  }

  /** Redirect URIs are compared as text; a client id that is a URL must be that of its document. */
  async #knowsClient(parameters: URLSearchParams): Promise<boolean> {
    const id = parameters.get('client_id') ?? '';
    if (this.fetchDocument !== null && id.startsWith('https://')) {
      const document = JSON.parse(await this.fetchDocument(id)) as Record<string, unknown>;
      if (document.client_id !== id || typeof document.client_name !== 'string') return false;
      if (document.client_secret !== undefined || document.token_endpoint_auth_method !== 'none') return false;
      this.clients.set(id, null);
      this.redirectUris.set(id, document.redirect_uris as string[]);
    }
    const known = this.redirectUris.get(id);
    if (!this.clients.has(id)) return false;
    return known === undefined || known.includes(parameters.get('redirect_uri') ?? '');
  }

  /** A page with the choices of a person: each is a link to the answer. */
  #showConsent(parameters: URLSearchParams, response: ServerResponse): void {
    this.requests.push(parameters);
    const link = (choice: string, text: string) => {
      const query = new URLSearchParams(parameters);
      query.set('choice', choice);
      return `<p><a href="/consent?${query.toString().replaceAll('&', '&amp;')}">${text}</a></p>`;
    };
    response.writeHead(200, { 'content-type': 'text/html' }).end(
      `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Consent</title><h1>Consent</h1>
       ${link('allow', 'Allow')}${link('less', 'Allow only read')}${link('deny', 'Deny')}</html>`,
    );
  }

  #redirect(parameters: URLSearchParams, response: ServerResponse): void {
    const callback = new URL(parameters.get('redirect_uri') ?? '');
    callback.searchParams.set('state', parameters.get('state') ?? '');
    if (this.statesIssuer) callback.searchParams.set('iss', this.origin);
    if (parameters.get('choice') === 'deny') callback.searchParams.set('error', 'access_denied');
    else {
      const code = randomBytes(16).toString('hex');
      this.#codes.set(code, {
        challenge: parameters.get('code_challenge') ?? '',
        redirectUri: parameters.get('redirect_uri') ?? '',
        clientId: parameters.get('client_id') ?? '',
        scope: parameters.get('choice') === 'less' ? 'read' : (parameters.get('scope') ?? ''),
        resource: parameters.get('resource'),
      });
      callback.searchParams.set('code', code);
    }
    response.writeHead(302, { location: callback.href }).end();
  }

  /** RFC 6749 §4.1.3, RFC 7636 §4.6, RFC 8707 §2. */
  #grant(parameters: URLSearchParams, { headers }: IncomingMessage, response: ServerResponse): void {
    this.tokenRequests.push(parameters);
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const [id, secret = null] = headers.authorization?.startsWith('Basic ')
      ? Buffer.from(headers.authorization.slice(6), 'base64').toString().split(':').map(decodeURIComponent)
      : [parameters.get('client_id') ?? '', parameters.get('client_secret')];
    if (!this.clients.has(id!) || this.clients.get(id!) !== secret) return void reply(401, { error: 'invalid_client' });
    const isRefresh = parameters.get('grant_type') === 'refresh_token';
    const code = this.#codes.get(parameters.get('code') ?? '');
    this.#codes.delete(parameters.get('code') ?? '');
    const proof = createHash('sha256')
      .update(parameters.get('code_verifier') ?? '')
      .digest('base64url');
    const isGranted = isRefresh
      ? this.#refreshTokens.get(parameters.get('refresh_token') ?? '') === parameters.get('resource')
      : code !== undefined &&
        code.challenge === proof &&
        code.redirectUri === parameters.get('redirect_uri') &&
        code.clientId === id &&
        code.resource === parameters.get('resource');
    if (!isGranted) return void reply(400, { error: 'invalid_grant' });
    const accessToken = `at-${randomBytes(16).toString('hex')}`;
    const refreshToken = `rt-${randomBytes(16).toString('hex')}`;
    this.accessTokens.add(accessToken);
    this.#refreshTokens.set(refreshToken, parameters.get('resource'));
    const scope = code === undefined || code.scope === '' ? {} : { scope: code.scope };
    reply(200, {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: 3_600,
      refresh_token: refreshToken,
      ...scope,
    });
  }

  /** Ends every grant, as a person does at the provider. */
  revokeAll(): void {
    this.#refreshTokens.clear();
  }
}
