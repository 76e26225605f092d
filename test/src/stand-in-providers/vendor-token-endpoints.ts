/**
 * Token endpoints of Google, Microsoft Entra and AWS STS in one server, written from the vendors' references, without a
 * library of the product. They check what a client sends and give the tokens of {@link MINTED}.
 */
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hmac } from './s3-signature.js';

const SERVICE_ACCOUNT = 'agents@my-project.iam.gserviceaccount.com';
const KEY_ID = 'a1b2';
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
const USER_ACCESS_KEY_ID = 'AKIAIOSFODNN7EXAMPLE';

/** Secrets that the endpoints accept. */
export const STORED = {
  pem: PEM,
  userSecretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  entraClientSecret: 'entra-secret-0123456789',
} as const;

export const MINTED = {
  google: 'ya29.minted-0123456789',
  entra: 'eyJ.minted-entra',
  aws: {
    accessKeyId: 'ASIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'temporary-secret-0123456789',
    sessionToken: 'session-token-0123456789',
  },
} as const;

/** Credentials of accounts, by provider. */
export const MINTED_ACCOUNTS = {
  vertex: {
    method: 'service_account',
    serviceAccountKey: JSON.stringify({
      type: 'service_account',
      client_email: SERVICE_ACCOUNT,
      private_key: PEM,
      private_key_id: KEY_ID,
      token_uri: 'http://127.0.0.1:1/evil',
      auth_uri: 'http://127.0.0.1:1/evil',
    }),
    location: 'us-central1',
  },
  'azure-openai': {
    method: 'entra',
    tenantId: '11111111-2222-3333-4444-555555555555',
    clientId: 'app',
    clientSecret: STORED.entraClientSecret,
    resource: 'mine',
  },
  bedrock: {
    method: 'assume_role',
    roleArn: 'arn:aws:iam::123456789012:role/agents',
    region: 'us-east-1',
    userAccessKeyId: USER_ACCESS_KEY_ID,
    userSecretAccessKey: STORED.userSecretAccessKey,
  },
} as const;

const createStsAnswer = () => `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
<Credentials><AccessKeyId>${MINTED.aws.accessKeyId}</AccessKeyId><SecretAccessKey>${MINTED.aws.secretAccessKey}</SecretAccessKey>
<SessionToken>${MINTED.aws.sessionToken}</SessionToken><Expiration>${new Date(Date.now() + 3_600_000).toISOString()}</Expiration></Credentials>
</AssumeRoleResult></AssumeRoleResponse>`;

export class VendorTokenEndpoints {
  readonly requests: { readonly path: string; readonly body: URLSearchParams }[] = [];
  /** The organization whose external id AWS expects. */
  orgId = '';
  origin = '';
  readonly #server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { url: path = '' } = request;
    const body = new URLSearchParams(text);
    this.requests.push({ path, body });
    const token = (accessToken: string) =>
      response.end(JSON.stringify({ access_token: accessToken, token_type: 'Bearer', expires_in: 3_599 }));
    if (path === '/google' && isGoogleAssertion(body, `${this.origin}/google`)) return token(MINTED.google);
    if (path === '/entra' && body.get('client_secret') === STORED.entraClientSecret) return token(MINTED.entra);
    const isRole = body.get('Action') === 'AssumeRole' && body.get('ExternalId') === `acg-${this.orgId}`;
    if (path === '/sts' && isRole && isSignedForSts(request, text)) return response.end(createStsAnswer());
    response.statusCode = 403;
    return response.end('<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>');
  });

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Entries of PROVIDERS_FILE; `origins`: of the providers' APIs. */
  addressesFor(origins: { readonly vertex: string; readonly azure: string; readonly bedrock: string }) {
    const at = (method: string, path: string) => ({ [method]: `${this.origin}${path}` });
    return {
      vertex: { baseUrl: origins.vertex, origins: {}, tokenUrls: at('service_account', '/google') },
      'azure-openai': { baseUrl: origins.azure, origins: {}, tokenUrls: at('entra', '/entra') },
      bedrock: {
        baseUrl: origins.bedrock,
        origins: { control: origins.bedrock },
        tokenUrls: at('assume_role', '/sts'),
      },
    };
  }
}

/** https://developers.google.com/identity/protocols/oauth2/service-account */
function isGoogleAssertion(body: URLSearchParams, audience: string): boolean {
  const [head = '', claims = '', signature = ''] = (body.get('assertion') ?? '').split('.');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { iss, scope, aud, iat, exp, sub } = decode(claims);
  const { alg, kid } = decode(head);
  const nowS = Date.now() / 1_000;
  const key = createPublicKey(PEM);
  return (
    body.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer' &&
    verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')) &&
    alg === 'RS256' &&
    kid === KEY_ID &&
    iss === SERVICE_ACCOUNT &&
    sub === undefined &&
    scope === 'https://www.googleapis.com/auth/cloud-platform' &&
    aud === audience &&
    iat <= nowS - 60 &&
    exp >= nowS + 60 &&
    exp - iat <= 3_600
  );
}

/** Signature Version 4, by https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function isSignedForSts({ headers, url = '' }: IncomingMessage, body: string): boolean {
  const [, id, date, names = '', signature] =
    /Credential=([^/]+)\/(\d{8})\/us-east-1\/sts\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]+)/.exec(
      headers.authorization ?? '',
    ) ?? [];
  const canonicalHeaders = names
    .split(';')
    .map((name) => `${name}:${headers[name]}\n`)
    .join('');
  const bodyHash = createHash('sha256').update(body).digest('hex');
  const canonical = `POST\n${url}\n\n${canonicalHeaders}\n${names}\n${bodyHash}`;
  const scope = `${date}/us-east-1/sts/aws4_request`;
  const hash = createHash('sha256').update(canonical).digest('hex');
  const key = hmac(
    hmac(hmac(hmac(`AWS4${STORED.userSecretAccessKey}`, date ?? ''), 'us-east-1'), 'sts'),
    'aws4_request',
  );
  const expected = hmac(key, `AWS4-HMAC-SHA256\n${headers['x-amz-date']}\n${scope}\n${hash}`).toString('hex');
  return id === USER_ACCESS_KEY_ID && signature === expected;
}
