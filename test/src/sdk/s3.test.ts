import { createHash, createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PROVIDER_CREDENTIALS } from '../stand-in-providers/provider-credentials.js';
import { S3_SLOW_DOWN_RESPONSE, S3StandIn } from '../stand-in-providers/s3.js';
import { base64Crc32 } from '../stand-in-providers/s3-payload.js';
import { InProcessGateway } from './in-process-gateway.js';

let provider: S3StandIn;
let gateway: InProcessGateway;

beforeAll(async () => {
  provider = await new S3StandIn().start();
  gateway = await InProcessGateway.start([
    { slug: 's3', origin: provider.origin, credentials: PROVIDER_CREDENTIALS.s3 },
  ]);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});
beforeEach(() => {
  provider.reset();
  provider.requests.length = 0;
});

const Bucket = 'agent-bucket';

function client(way: string, more: object = {}): S3Client {
  const common = { forcePathStyle: true, maxAttempts: 1, ...more };
  if (way === 'direct')
    return new S3Client({ ...common, endpoint: provider.origin, ...withKeys(PROVIDER_CREDENTIALS.s3) });
  const { baseUrl, key } = gateway.route('s3');
  const keys = { accessKeyId: key, secretAccessKey: 'unused', region: 'us-east-1' };
  return new S3Client({ ...common, endpoint: baseUrl, ...withKeys(keys) });
}

const withKeys = ({ region, ...credentials }: { accessKeyId: string; secretAccessKey: string; region: string }) => ({
  region,
  credentials,
});

describe.each(['direct', 'gateway'])('S3 SDK, %s', (way) => {
  const read = async (Key: string): Promise<Buffer> => {
    const answer = await client(way).send(new GetObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }));
    return Buffer.from(await answer.Body!.transformToByteArray());
  };

  test.each([
    ['text', Buffer.from('hello object')],
    ['empty', Buffer.alloc(0)],
    ['100 kB', Buffer.alloc(100_000, 'abc')],
    ['3 MB, sent with Expect: 100-continue', Buffer.alloc(3_000_000, 'xyz')],
  ])('buffer: %s', async (name, Body) => {
    await client(way).send(
      new PutObjectCommand({ Bucket, Key: name, Body, ContentType: 'text/plain', Metadata: { who: 'agent  one' } }),
    );
    expect(provider.bytesOf(`${Bucket}/${name}`)?.equals(Body)).toBe(true);
    expect((await read(name)).equals(Body)).toBe(true);
    const head = await client(way).send(new HeadObjectCommand({ Bucket, Key: name }));
    expect(head).toMatchObject({
      ContentLength: Body.length,
      ContentType: 'text/plain',
      Metadata: { who: 'agent  one' },
    });
  });

  test('stream of known length, sent aws-chunked with a trailing checksum', async () => {
    const bytes = Buffer.alloc(140_000, 'stream');
    const Body = Readable.from([bytes.subarray(0, 1), bytes.subarray(1, 99_999), bytes.subarray(99_999)]);
    await client(way).send(new PutObjectCommand({ Bucket, Key: 'stream', Body, ContentLength: bytes.length }));
    expect(provider.lastRequest.headers['x-amz-content-sha256']).toBe('STREAMING-UNSIGNED-PAYLOAD-TRAILER');
    expect(provider.bytesOf(`${Bucket}/stream`)?.equals(bytes)).toBe(true);
  });

  test('stream of known length without a checksum', async () => {
    const bytes = Buffer.alloc(140_000, 'stream');
    await client(way, { requestChecksumCalculation: 'WHEN_REQUIRED' }).send(
      new PutObjectCommand({ Bucket, Key: 'plain', Body: Readable.from([bytes]), ContentLength: bytes.length }),
    );
    expect(provider.lastRequest.headers['x-amz-content-sha256']).toBe('UNSIGNED-PAYLOAD');
    expect(provider.bytesOf(`${Bucket}/plain`)?.equals(bytes)).toBe(true);
  });

  test('multipart upload of a stream of unknown length', async () => {
    const bytes = Buffer.alloc(11 * 1024 * 1024, 'multipart-');
    const Body = Readable.from([bytes.subarray(0, 7_000_000), bytes.subarray(7_000_000)]);
    const upload = new Upload({ client: client(way), params: { Bucket, Key: 'big file', Body }, queueSize: 2 });
    await upload.done();
    expect(provider.bytesOf(`${Bucket}/big file`)?.equals(bytes)).toBe(true);
  });

  test.each([
    'with space',
    'with+plus',
    'with%2Fescape',
    'ünïcödé/✓',
    "it's (really) *odd*!~",
    'a//b',
    'dir/',
    './dot/../dots',
    '../up',
    'q?uery=1&x#y',
    '日本/語 +%20',
    'back\\slash',
    'ctl\u0001',
  ])('key %j', async (Key) => {
    const Body = Buffer.from(`body of ${Key}`);
    await client(way).send(new PutObjectCommand({ Bucket, Key, Body }));
    expect(provider.objectNames).toEqual([`${Bucket}/${Key}`]);
    expect((await read(Key)).equals(Body)).toBe(true);
    await client(way).send(new DeleteObjectCommand({ Bucket, Key }));
    expect(provider.objectNames).toEqual([]);
  });

  test('ranges, conditions, lists, deletes, errors', async () => {
    const s3 = client(way);
    for (const Key of ['a/1', 'a/2', 'b']) await s3.send(new PutObjectCommand({ Bucket, Key, Body: `body ${Key}` }));
    const range = await s3.send(new GetObjectCommand({ Bucket, Key: 'b', Range: 'bytes=1-3' }));
    expect(range).toMatchObject({ ContentRange: 'bytes 1-3/6', ContentLength: 3 });
    expect(await range.Body!.transformToString()).toBe('ody');
    const cached = s3.send(new GetObjectCommand({ Bucket, Key: 'b', IfNoneMatch: range.ETag! }));
    await expect(cached).rejects.toMatchObject({ $metadata: { httpStatusCode: 304 } });
    const list = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }));
    expect(list.Contents?.map((item) => item.Key)).toEqual(['a/1', 'a/2']);
    const Objects = [{ Key: 'a/1' }, { Key: 'a/2' }];
    await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(provider.objectNames).toEqual([`${Bucket}/b`]);
    await expect(s3.send(new GetObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({ name: 'NoSuchKey' });
    await expect(s3.send(new HeadObjectCommand({ Bucket, Key: 'none' }))).rejects.toMatchObject({ name: 'NotFound' });
    provider.failNext({ answer: S3_SLOW_DOWN_RESPONSE });
    await expect(s3.send(new GetObjectCommand({ Bucket, Key: 'b' }))).rejects.toMatchObject({ name: 'SlowDown' });
  });

  test('presigned URLs, for reading and for writing', async () => {
    const put = await getSignedUrl(
      client(way),
      new PutObjectCommand({ Bucket, Key: 'pre signed', ContentType: 'text/plain', Metadata: { who: 'x y' } }),
    );
    const upload = await fetch(put, { method: 'PUT', body: 'by url', headers: { 'content-type': 'text/plain' } });
    expect(upload.status).toBe(200);
    expect(provider.bytesOf(`${Bucket}/pre signed`)?.toString()).toBe('by url');
    const get = await getSignedUrl(client(way), new GetObjectCommand({ Bucket, Key: 'pre signed' }), { expiresIn: 60 });
    const answer = await fetch(get);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('by url');
    expect(answer.headers.get('x-amz-meta-who')).toBe('x y');
  });
});

test('S3: an expired presigned URL is rejected before anything is sent', async () => {
  const signingDate = new Date(Date.now() - 3_600_000);
  const url = await getSignedUrl(client('gateway'), new GetObjectCommand({ Bucket, Key: 'x' }), {
    expiresIn: 60,
    signingDate,
  });
  expect((await fetch(url)).status).toBe(403);
  expect(provider.requests).toHaveLength(0);
});

test('S3: a presigned URL without an expiry is rejected before anything is sent', async () => {
  const url = await getSignedUrl(client('gateway'), new GetObjectCommand({ Bucket, Key: 'x' }), { expiresIn: 60 });
  for (const changed of [
    url.replace('X-Amz-Expires=60', 'X-Amz-Expires=never'),
    url.replace('X-Amz-Expires=60&', ''),
    url.replace(/X-Amz-Date=\d+T/, 'X-Amz-Date=tomorrow'),
  ]) {
    expect([changed === url, (await fetch(changed)).status]).toEqual([false, 403]);
  }
  expect(provider.requests).toHaveLength(0);
});

test('S3: the provider accepts only signatures of the real secret', async () => {
  const wrong = { ...PROVIDER_CREDENTIALS.s3, secretAccessKey: 'another/Secret+Access/Key=9' };
  const other = await InProcessGateway.start([{ slug: 's3', origin: provider.origin, credentials: wrong }]);
  const { baseUrl, key } = other.route('s3');
  const s3 = new S3Client({
    endpoint: baseUrl,
    forcePathStyle: true,
    maxAttempts: 1,
    ...withKeys({ accessKeyId: key, secretAccessKey: 'unused', region: 'us-east-1' }),
  });
  await expect(s3.send(new ListObjectsV2Command({ Bucket }))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  await other.stop();
});

/** Signed chunks as aws-cli, the Java SDK and MinIO clients send them over plain HTTP. */
function signedChunks(data: Buffer, sizes: readonly number[], trailer: string): Buffer {
  const sign = (): string => createHmac('sha256', 'worthless').update(String(Math.random())).digest('hex');
  const parts: Buffer[] = [];
  let at = 0;
  for (const size of [...sizes, data.length]) {
    const piece = data.subarray(at, at + size);
    at += piece.length;
    if (piece.length === 0) continue;
    parts.push(Buffer.from(`${piece.length.toString(16)};chunk-signature=${sign()}\r\n`), piece, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`0;chunk-signature=${sign()}\r\n${trailer}\r\n`));
  return Buffer.concat(parts);
}

const putSigned = (key: string, body: Buffer, payload: string, headers: Record<string, string>): Promise<Response> => {
  const { baseUrl, key: gatewayToken } = gateway.route('s3');
  const credential = `${gatewayToken}/20260101/us-east-1/s3/aws4_request`;
  return fetch(`${baseUrl}/${Bucket}/${key}`, {
    method: 'PUT',
    body: new Uint8Array(body),
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=${'0'.repeat(64)}`,
      'content-encoding': 'aws-chunked',
      'x-amz-date': '20260101T000000Z',
      'x-amz-content-sha256': payload,
      ...headers,
    },
  });
};

test.each([
  ['small', 20],
  ['streamed', 400_000],
])('S3: signed chunks, %s, arrive as the bare object', async (key, length) => {
  const data = Buffer.alloc(length, 'signed');
  const plain = await putSigned(key, signedChunks(data, [7, 10], ''), 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD', {
    'x-amz-decoded-content-length': String(length),
  });
  expect(plain.status).toBe(200);
  expect(provider.bytesOf(`${Bucket}/${key}`)?.equals(data)).toBe(true);
  expect(provider.lastRequest.headers).toMatchObject({
    'content-length': String(length),
    'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
  });
  expect(provider.lastRequest.headers['content-encoding']).toBeUndefined();

  const trailer = `x-amz-checksum-crc32:${base64Crc32(data)}\r\nx-amz-trailer-signature:${'0'.repeat(64)}\r\n`;
  const payload = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER';
  const headers = { 'x-amz-decoded-content-length': String(length), 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const checked = await putSigned(`${key}-checked`, signedChunks(data, [9_999], trailer), payload, headers);
  expect(checked.status).toBe(200);
  expect(provider.bytesOf(`${Bucket}/${key}-checked`)?.equals(data)).toBe(true);
});

test.each([
  ['small', 20],
  ['streamed', 400_000],
])('S3: an object whose trailing checksum is wrong is never stored (%s)', async (key, length) => {
  const data = Buffer.alloc(length, 'signed');
  const body = signedChunks(data, [], 'x-amz-checksum-crc32:AAAAAA==\r\n');
  const headers = { 'x-amz-decoded-content-length': String(length), 'x-amz-trailer': 'x-amz-checksum-crc32' };
  const answer = await putSigned(key, body, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', headers);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(provider.objectNames).toEqual([]);
});

test('S3 stand-in: verifies signatures', async () => {
  const s3 = new S3Client({
    endpoint: provider.origin,
    forcePathStyle: true,
    maxAttempts: 1,
    ...withKeys({ ...PROVIDER_CREDENTIALS.s3, secretAccessKey: 'wrong' }),
  });
  await expect(s3.send(new ListObjectsV2Command({ Bucket }))).rejects.toMatchObject({ name: 'SignatureDoesNotMatch' });
  const md5 = createHash('md5').update('x').digest('base64');
  const put = new PutObjectCommand({ Bucket, Key: 'k', Body: 'y', ContentMD5: md5 });
  await expect(client('direct').send(put)).rejects.toMatchObject({ name: 'BadDigest' });
});
