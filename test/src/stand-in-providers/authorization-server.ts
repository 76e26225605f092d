/**
 * A stand-in authorization server with a consent page for a real browser, written from RFC 6749 §4.1, RFC 7636, RFC 7009
 * and RFC 9207, without a library of the product.
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
  /** Whether answers carry `iss`. */
  statesIssuer = false;
  readonly #codes = new Map<string, IssuedCode>();
  readonly #refreshTokens = new Set<string>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  origin = '';

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
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
    if (url.pathname === '/authorize') return this.#showConsent(url.searchParams, response);
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
      ? this.#refreshTokens.has(parameters.get('refresh_token') ?? '')
      : code !== undefined &&
        code.challenge === proof &&
        code.redirectUri === parameters.get('redirect_uri') &&
        code.clientId === id &&
        code.resource === parameters.get('resource');
    if (!isGranted) return void reply(400, { error: 'invalid_grant' });
    const accessToken = `at-${randomBytes(16).toString('hex')}`;
    const refreshToken = `rt-${randomBytes(16).toString('hex')}`;
    this.accessTokens.add(accessToken);
    this.#refreshTokens.add(refreshToken);
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
