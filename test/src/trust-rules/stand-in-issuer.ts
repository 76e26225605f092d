/**
 * Issuers of workload tokens, written from RFC 7515, RFC 7517 and OpenID Connect Discovery 1.0, without the library that
 * the gateway verifies with.
 */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Json = Readonly<Record<string, unknown>>;
type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A key pair that signs tokens with ES256 or RS256. */
export class SigningKey {
  readonly #privateKey: KeyObject;
  readonly publicKey: KeyObject;

  constructor(
    readonly kid: string,
    readonly alg: 'ES256' | 'RS256' = 'ES256',
  ) {
    const pair =
      alg === 'ES256'
        ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
        : generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#privateKey = pair.privateKey;
    this.publicKey = pair.publicKey;
  }

  get jwk(): Json {
    return { ...this.publicKey.export({ format: 'jwk' }), kid: this.kid, use: 'sig', alg: this.alg };
  }

  get privateJwk(): Json {
    return { ...this.#privateKey.export({ format: 'jwk' }), kid: this.kid };
  }

  sign(claims: unknown, header: Json = {}): string {
    const signed = `${encode({ typ: 'JWT', alg: this.alg, kid: this.kid, ...header })}.${encode(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  /** HMAC with the text of the public key, which everybody knows. */
  signWithPublicKey(claims: unknown, alg = 'HS256'): string {
    const signed = `${encode({ typ: 'JWT', alg, kid: this.kid })}.${encode(claims)}`;
    const secret = this.publicKey.export({ type: 'spki', format: 'pem' });
    return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  }
}

export const unsigned = (claims: unknown, alg = 'none'): string => `${encode({ alg })}.${encode(claims)}.`;

/** Claims of a token that is valid for five minutes. */
export function workloadClaims(issuer: string, audience: string, overrides: Json = {}): Json {
  const nowS = Math.floor(Date.now() / 1000);
  return {
    iss: issuer,
    aud: audience,
    sub: 'repo:octo/app:ref:refs/heads/main',
    repository_id: '4711',
    iat: nowS,
    nbf: nowS,
    exp: nowS + 300,
    ...overrides,
  };
}

export class StandInIssuer {
  readonly #server: Server;
  url = '';
  keys: SigningKey[] = [new SigningKey('k1')];
  keyRequests = 0;
  /** Answers requests for the keys instead of the issuer. */
  answerKeys: Handle | null = null;
  /** Answers requests for the discovery document instead of the issuer. */
  answerDiscovery: Handle | null = null;

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<StandInIssuer> {
    const issuer = new StandInIssuer();
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    issuer.url = `http://127.0.0.1:${(issuer.#server.address() as AddressInfo).port}`;
    return issuer;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const json = (body: Json) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') {
      if (this.answerDiscovery !== null) this.answerDiscovery(request, response);
      else json({ issuer: this.url, jwks_uri: `${this.url}/jwks`, id_token_signing_alg_values_supported: ['ES256'] });
    } else if (request.url === '/jwks') {
      this.keyRequests++;
      if (this.answerKeys !== null) this.answerKeys(request, response);
      else json({ keys: this.keys.map(({ jwk }) => jwk) });
    } else response.writeHead(404).end();
  }
}
