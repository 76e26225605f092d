import { createHash, createHmac } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SigV4Injection } from '../context/agent-context.js';
import type { TokenPosition } from '../upstream/credentials/find-gateway-token.js';
import { parsePresignedExpiryMs, planObjectRequest } from './plan-object-request.js';
import { formatAmzDate, signRequest } from './sigv4.js';

/** Keys and cases of "Authenticating Requests: Using the Authorization Header" in the Amazon S3 API reference. */
const AWS_EXAMPLE: SigV4Injection = {
  kind: 'sigv4',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
  region: 'us-east-1',
  service: 's3',
  isObjectStorage: true,
  extraHeaders: [],
  appendHeaders: [],
  extraQuery: [],
  dropHeaders: new Set(),
  pathPrefix: null,
  secretForms: [],
};
const AT_MS = Date.UTC(2013, 4, 24);
const HOST = 'examplebucket.s3.amazonaws.com';
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const TOKEN = `acg_${'0'.repeat(64)}`;
const position: TokenPosition = { gatewayToken: TOKEN, form: 'sigv4', headerName: 'authorization', userJwt: null };

const signature = (headers: readonly string[]): string => {
  const at = headers.indexOf('authorization');
  return /Signature=([0-9a-f]{64})$/.exec(headers[at + 1]!)![1]!;
};

test.each([
  ['/test.txt', ['range', 'bytes=0-9'], 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'],
  ['/?lifecycle', [], 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'],
  ['/?max-keys=2&prefix=J', [], '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'],
])('signs the published example GET %s', (path, extra, expected) => {
  const headers = [...extra, 'x-amz-content-sha256', EMPTY, 'user-agent', 'not signed'];
  expect(signRequest('GET', HOST, path, headers, AWS_EXAMPLE, AT_MS)).toBe(true);
  expect(signature(headers)).toBe(expected);
});

test('sends and signs a session token', () => {
  const headers = ['x-amz-content-sha256', EMPTY];
  signRequest('GET', HOST, '/x', headers, { ...AWS_EXAMPLE, sessionToken: 'session' }, AT_MS);
  expect(headers).toContain('x-amz-security-token');
  expect(headers.at(-1)).toContain('SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,');
});

test('signs raw and encoded forms of a key alike, and a plus not as a space', () => {
  const sign = (path: string): string => {
    const headers = ['x-amz-content-sha256', EMPTY];
    expect(signRequest('GET', HOST, path, headers, AWS_EXAMPLE, AT_MS)).toBe(true);
    return signature(headers);
  };
  expect(sign("/b/it's(1)")).toBe(sign('/b/it%27s%281%29'));
  expect(sign('/b/a+b')).toBe(sign('/b/a%2Bb'));
  expect(sign('/b/a+b')).not.toBe(sign('/b/a%20b'));
  expect(sign('/b/../c')).not.toBe(sign('/c'));
  expect(sign('/b/a%2Bb|["')).toBe(sign('/b/a%2Bb%7C%5B%22'));
});

test('does not sign a path that is not UTF-8', () => {
  expect(signRequest('GET', HOST, '/%ff', ['x-amz-content-sha256', EMPTY], AWS_EXAMPLE, AT_MS)).toBe(false);
});

/** Node's SHA-256 as the AWS SDK takes it. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    const key = secret === undefined || typeof secret === 'string' ? secret : Buffer.from(secret as Uint8Array);
    this.#hash = key === undefined ? createHash('sha256') : createHmac('sha256', key);
  }
  update(data: Uint8Array): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error('not used');
  }
}

const BEDROCK: SigV4Injection = { ...AWS_EXAMPLE, service: 'bedrock', isObjectStorage: false };
const AWS_KEYS = { accessKeyId: BEDROCK.accessKeyId, secretAccessKey: BEDROCK.secretAccessKey };
const BEDROCK_HOST = 'bedrock-runtime.us-east-1.amazonaws.com';

/** The signature of AWS's own SDK for the same request. */
async function signWithAwsSdk(path: string, query: Readonly<Record<string, string>>): Promise<string> {
  const signer = new SignatureV4({ credentials: AWS_KEYS, region: BEDROCK.region, service: 'bedrock', sha256: Sha256 });
  const request = {
    method: 'POST',
    protocol: 'https:',
    hostname: BEDROCK_HOST,
    path,
    query: { ...query },
    headers: { host: BEDROCK_HOST, 'content-type': 'application/json', 'x-amz-content-sha256': EMPTY },
  };
  const signed = await signer.sign(request, { signingDate: new Date(AT_MS) });
  return signature(['authorization', signed.headers.authorization!]);
}

function signBedrockCall(pathAndQuery: string): string {
  const headers = ['content-type', 'application/json', 'x-amz-content-sha256', EMPTY];
  expect(signRequest('POST', BEDROCK_HOST, pathAndQuery, headers, BEDROCK, AT_MS)).toBe(true);
  return signature(headers);
}

test.each([
  '/model/anthropic.claude-haiku-4-5-20251001-v1%3A0/converse',
  '/model/anthropic.claude-haiku-4-5-20251001-v1:0/converse',
  '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2c3/converse-stream',
  '/model/arn:aws:bedrock:us-east-1:123456789012:application-inference-profile%2Fa1b2c3/invoke',
  '/model/%C3%BC%20x/invoke',
])('signs POST %s for Bedrock as the AWS SDK does', async (path) => {
  expect(signBedrockCall(path)).toBe(await signWithAwsSdk(path, {}));
});

test('signs any path and query of another service than S3 as the AWS SDK does', async () => {
  const pieces = ['a', '-', '.', '_', '~', ':', '+', '!', '@', '%3A', '%2F', '%20', '%25', '%C3%BC'];
  const textOf = (...allowed: string[]) =>
    fc.array(fc.constantFrom(...allowed), { minLength: 1, maxLength: 6 }).map((parts) => `x${parts.join('')}`);
  const names = fc.uniqueArray(fc.constantFrom('a', 'b-c', 'X'), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(textOf(...pieces), { minLength: 1, maxLength: 4 }),
      names,
      textOf(...pieces, '|', '"', '['),
      async (segments, params, value) => {
        const path = `/${segments.join('/')}`;
        const raw = value.replaceAll('+', '%2B');
        const query = params.map((name) => `${name}=${raw}`).join('&');
        const decoded = Object.fromEntries(params.map((name) => [name, decodeURIComponent(raw)]));
        const signed = signBedrockCall(query === '' ? path : `${path}?${query}`);
        expect(signed).toBe(await signWithAwsSdk(path, decoded));
      },
    ),
  );
});

test('formats dates', () => {
  expect(formatAmzDate(AT_MS)).toBe('20130524T000000Z');
  expect(formatAmzDate(AT_MS + 1999)).toBe('20130524T000001Z');
});

test('keeps the client’s payload hash where it matches the bytes', () => {
  const hash = 'a'.repeat(64);
  const plan = (payload: string, hasBody: boolean) =>
    planObjectRequest(['x-amz-content-sha256', payload, 'x-amz-date', 'theirs'], 'x-id=Put', position, hasBody);
  const sha = (payload: string, hasBody: boolean) => (plan(payload, hasBody) as { headers: string[] }).headers;
  expect(sha(hash, true)).toEqual(['x-amz-content-sha256', hash]);
  expect(sha('STREAMING-UNSIGNED-PAYLOAD-TRAILER', true)).toEqual([
    'x-amz-content-sha256',
    'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  ]);
  expect(sha('UNSIGNED-PAYLOAD', true)).toEqual(['x-amz-content-sha256', 'UNSIGNED-PAYLOAD']);
  expect(sha('', false)).toEqual(['x-amz-content-sha256', EMPTY]);
});

test('sends signed chunks as an unsigned object of known length', () => {
  const headers = [
    'content-encoding',
    'aws-chunked,gzip',
    'x-amz-decoded-content-length',
    '140000',
    'x-amz-trailer',
    'x-amz-checksum-crc32',
    'x-amz-content-sha256',
    'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER',
    'x-amz-security-token',
    'theirs',
  ];
  expect(planObjectRequest(headers, null, position, true)).toEqual({
    headers: ['content-encoding', 'gzip', 'x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
    query: null,
    bodyMode: 'strip_signatures',
    decodedBytes: 140_000,
    trailer: 'x-amz-checksum-crc32',
  });
  expect(planObjectRequest(headers.toSpliced(2, 2), null, position, true)).toContain('x-amz-decoded-content-length');
});

test('converts a presigned URL to a header-signed request of the same meaning', () => {
  const query =
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD&X-Amz-Credential=${TOKEN}%2F20261120%2Fus` +
    '&X-Amz-Date=20261120T162941Z&X-Amz-Expires=60&X-Amz-Signature=df&X-Amz-SignedHeaders=host' +
    '&x-amz-meta-who=agent%20one&x-id=PutObject&a%20b=c';
  const plan = planObjectRequest(['content-type', 'text/plain'], query, { ...position, form: 'presigned' }, true);
  expect(plan).toMatchObject({
    query: 'x-id=PutObject&a%20b=c',
    headers: ['content-type', 'text/plain', 'x-amz-meta-who', 'agent one', 'x-amz-content-sha256', 'UNSIGNED-PAYLOAD'],
  });
  expect(parsePresignedExpiryMs(query)).toBe(Date.UTC(2026, 10, 20, 16, 30, 41));
  expect(parsePresignedExpiryMs('X-Amz-Date=20261120T162941Z')).toBeNull();
});

test("drops the SDK's checksum of an empty body from a presigned upload", () => {
  const query = 'x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32&x-id=PutObject';
  const plan = planObjectRequest([], query, { ...position, form: 'presigned' }, true);
  expect(plan).toMatchObject({ query: 'x-id=PutObject', headers: ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD'] });
});

test.each([
  ['sigv4', `x=1&apikey=${TOKEN}&y=a%20b`],
  ['sigv4', `x=1&X-Amz-Credential=${TOKEN}%2F20261120&X-Amz-Signature=00&y=a%20b`],
  ['query', `x=1&apikey=${TOKEN}&y=a%20b`],
  ['bearer', `x=1&note=${TOKEN}&y=a%20b`],
  ['bearer', `x=1&note=%61${TOKEN.slice(1)}&y=a%20b`],
  ['presigned', `x=1&apikey=${TOKEN}&X-Amz-Credential=${TOKEN}%2F20261120&y=a%20b`],
] as const)('removes the gateway token from any place of the query (%s)', (form, query) => {
  const plan = planObjectRequest([], query, { ...position, form }, false);
  expect(plan).toMatchObject({ query: 'x=1&y=a%20b' });
});

test.each(['X-Amz-a%0d%0ab=1', 'X-Amz-%C3%A9=1', 'X-Amz-Meta-a=%0d%0aset-cookie', 'X-Amz-=1'])(
  'rejects a presigned parameter that is not a valid header (%s)',
  (pair) => {
    expect(typeof planObjectRequest([], pair, { ...position, form: 'presigned' }, false)).toBe('string');
  },
);
