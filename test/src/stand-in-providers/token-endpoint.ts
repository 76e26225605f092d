/**
 * A stand-in for token endpoints, written from RFC 6749 §4.4 and RFC 7523, without a library of the product. It checks
 * what a client sends, counts its requests and misbehaves on demand.
 */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TokenRequest {
  readonly parameters: URLSearchParams;
  readonly authorization: string | null;
}

/** Null: answered already, or never. */
type Answer = { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> } | null;

export class TokenEndpoint {
  readonly requests: TokenRequest[] = [];
  /** Every issued token, oldest first. */
  readonly issued: string[] = [];
  lifetimeS = 3_600;
  /** Replaces the ordinary answer, unless it returns undefined. */
  respond:
    | ((request: TokenRequest, response: ServerResponse) => Answer | undefined | Promise<Answer | undefined>)
    | null = null;
  /** By client id. */
  readonly secrets = new Map<string, string>();
  readonly publicKeys = new Map<string, KeyObject>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  #origin = '';

  get url(): string {
    return `${this.#origin}/oauth/token`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.#origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  issue(): string {
    const token = `at-${this.issued.length}-${'x'.repeat(20)}`;
    this.issued.push(token);
    return token;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { authorization = null } = request.headers;
    const received = { parameters: new URLSearchParams(text), authorization };
    this.requests.push(received);
    const replacement = this.respond === null ? undefined : await this.respond(received, response);
    if (replacement === null) return;
    const answer = replacement ?? this.#grant(received, request);
    const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers }).end(body);
  }

  /** RFC 6749 §4.4.3 and §5.2. */
  #grant(received: TokenRequest, { method, url, headers }: IncomingMessage): NonNullable<Answer> {
    const { parameters } = received;
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') ?? false;
    if (method !== 'POST' || url !== '/oauth/token' || !isForm)
      return { status: 400, body: { error: 'invalid_request' } };
    if (parameters.get('grant_type') !== 'client_credentials')
      return { status: 400, body: { error: 'unsupported_grant_type' } };
    if (!this.#isAuthentic(received)) return { status: 401, body: { error: 'invalid_client' } };
    const scope = parameters.get('scope');
    const token = { access_token: this.issue(), token_type: 'bearer', expires_in: this.lifetimeS };
    return { body: scope === null ? token : { ...token, scope } };
  }

  #isAuthentic({ parameters, authorization }: TokenRequest): boolean {
    const assertion = parameters.get('client_assertion');
    if (assertion !== null) return this.#isAssertionValid(assertion);
    const [id, secret] = authorization?.startsWith('Basic ')
      ? Buffer.from(authorization.slice(6), 'base64').toString().split(':').map(decodeForm)
      : [parameters.get('client_id'), parameters.get('client_secret')];
    return typeof id === 'string' && secret !== undefined && this.secrets.get(id) === secret;
  }

  /** RFC 7523 §3: issuer, subject, audience, times and signature. */
  #isAssertionValid(assertion: string): boolean {
    const [head = '', claims = '', signature = ''] = assertion.split('.');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
    const { alg } = decode(head);
    const { iss, sub, aud, iat, exp, jti } = decode(claims);
    const key = this.publicKeys.get(iss);
    const nowS = Date.now() / 1_000;
    const isTimely = exp > nowS && exp < nowS + 600 && iat <= nowS;
    if (key === undefined || sub !== iss || aud !== this.url || !isTimely || typeof jti !== 'string') return false;
    if ({ rsa: 'RS256', ec: 'ES256' }[key.asymmetricKeyType as string] !== alg) return false;
    const signed = Buffer.from(`${head}.${claims}`);
    return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  }

  trust(clientId: string, privateKeyPem: string): void {
    this.publicKeys.set(clientId, createPublicKey(privateKeyPem));
  }
}

/** RFC 6749 §2.3.1: both parts of the header are form-encoded. */
const decodeForm = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '));
