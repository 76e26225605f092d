/**
 * An OpenID Connect provider that answers what a test tells it to. Its ID tokens are correct unless the test changes
 * their header, claims or signature.
 */
import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;
type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const encode = (value: Json): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 });
export const CLIENT_ID = 'gateway';
export const CLIENT_SECRET = 'a client secret that no other client has';

/** What a correct token endpoint answers. */
export const sendTokens = (response: ServerResponse, idToken: string): void => {
  const tokens = { access_token: 'an access token', token_type: 'bearer', id_token: idToken };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(tokens));
};

export class HostileProvider {
  readonly #server: Server;
  readonly #keys = newKeys();
  issuer = '';
  /** Form parameters of the requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[] = [];
  /** Answers a token request instead of the provider; null: it answers {@link idToken}. */
  answerToken: Handle | null = null;
  idToken = '';
  /** Changes the discovery document; undefined removes a member. */
  document: Json = {};
  /** Answers the key set instead of the provider. */
  answerKeys: Handle | null = null;

  constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<HostileProvider> {
    const provider = new HostileProvider();
    await provider.listen();
    return provider;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  claims(nonce: string, overrides: Json = {}): Json {
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, exp: now + 300 };
    const person = { sub: 'person-1', email: 'ada@example.com', email_verified: true, name: 'Ada' };
    return { iss: this.issuer, aud: CLIENT_ID, nonce, ...times, ...person, ...overrides };
  }

  /** Signs with the provider's key unless another one is given. */
  sign(claims: Json, header: Json = {}, key: KeyObject = this.#keys.privateKey): string {
    const signed = `${encode({ alg: 'RS256', kid: 'k1', ...header })}.${encode(claims)}`;
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(key).toString('base64url')}`;
  }

  signWithStrangersKey(claims: Json): string {
    return this.sign(claims, {}, newKeys().privateKey);
  }

  unsigned(claims: Json): string {
    return `${encode({ alg: 'none' })}.${encode(claims)}.`;
  }

  /** HMAC with the text of the public key, which everybody knows. */
  signWithPublicKey(claims: Json): string {
    const signed = `${encode({ alg: 'HS256', kid: 'k1' })}.${encode(claims)}`;
    const secret = this.#keys.publicKey.export({ type: 'spki', format: 'pem' });
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (body: Json) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    const { issuer } = this;
    if (request.url === '/.well-known/openid-configuration') {
      json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        token_endpoint_auth_methods_supported: ['client_secret_post'],
        ...this.document,
      });
    } else if (request.url === '/jwks') {
      if (this.answerKeys !== null) this.answerKeys(request, response);
      else json({ keys: [{ ...this.#keys.publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }] });
    } else if (request.url === '/token') {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      this.tokenRequests.push(new URLSearchParams(body));
      if (this.answerToken !== null) this.answerToken(request, response);
      else sendTokens(response, this.idToken);
    } else response.writeHead(404).end();
  }
}
