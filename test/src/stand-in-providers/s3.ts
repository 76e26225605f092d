/** S3-compatible storage in memory, path style: objects, ranges, lists, multipart uploads. Formats as the provider documents them. */
import { createHash } from 'node:crypto';
import { type ReceivedRequest, StandInProvider } from '@acg/stand-in-provider/stand-in-provider';
import { emptyResponse, type StandInResponse, utf8 } from '@acg/stand-in-provider/stand-in-response';
import { PROVIDER_CREDENTIALS } from './provider-credentials.js';
import { base64Crc32, readPayload } from './s3-payload.js';
import { type S3Credentials, type S3Problem, verifySignature } from './s3-signature.js';

interface StoredObject {
  readonly bytes: Buffer;
  readonly type: string;
  readonly metadata: readonly (readonly [string, string])[];
}

const STATUS: Readonly<Record<string, number>> = {
  AccessDenied: 403,
  InvalidAccessKeyId: 403,
  SignatureDoesNotMatch: 403,
  RequestTimeTooSkewed: 403,
  NoSuchKey: 404,
  NoSuchBucket: 404,
  NoSuchUpload: 404,
  InvalidRange: 416,
  NotImplemented: 501,
  SlowDown: 503,
};
const LAST_MODIFIED = 'Thu, 01 Jan 2026 00:00:00 GMT';
const XML = ['Content-Type', 'application/xml'] as const;
const IDS = [
  ['x-amz-id-2', 'stand-in'],
  ['x-amz-request-id', 'STANDIN0REQUEST1'],
  ['Server', 'AmazonS3'],
] as const;

export class S3StandIn extends StandInProvider {
  readonly #keys: S3Credentials;
  readonly #objects = new Map<string, StoredObject>();
  readonly #uploads = new Map<string, Map<number, Buffer>>();
  #uploadCount = 0;

  constructor(keys: S3Credentials = PROVIDER_CREDENTIALS.s3) {
    super();
    this.#keys = keys;
  }

  /** Decoded `bucket/key` names that are stored. */
  get objectNames(): string[] {
    return [...this.#objects.keys()].sort();
  }

  bytesOf(name: string): Buffer | undefined {
    return this.#objects.get(name)?.bytes;
  }

  reset(): void {
    this.#objects.clear();
    this.#uploads.clear();
    this.#uploadCount = 0;
  }

  protected override respond(request: ReceivedRequest): StandInResponse {
    const verified = verifySignature(request, this.#keys, Date.now());
    if (isProblem(verified)) return errorResponse(verified, request);
    const payload = readPayload(request, verified);
    if (isProblem(payload)) return errorResponse(payload, request);
    // Keys are decoded once and never resolved: `..`, `//` and `%2F` are parts of a name.
    const name = decodeURIComponent(request.path.slice(1));
    const query = new URLSearchParams(request.query);
    if (query.has('uploads') && request.method === 'POST') return this.#createUpload(name);
    const uploadId = query.get('uploadId');
    if (uploadId !== null) return this.#onUpload(request, name, uploadId, query, payload);
    if (query.has('delete')) return this.#deleteMany(name, payload);
    const bucket = /^([^/]+)\/?$/.exec(name)?.[1];
    if (bucket !== undefined) return request.method === 'GET' ? this.#list(bucket, query) : emptyResponse(200, IDS);
    return this.#object(request, name, payload);
  }

  #object(request: ReceivedRequest, name: string, payload: Buffer): StandInResponse {
    switch (request.method) {
      case 'PUT': {
        // A presigned URL has the metadata in its query.
        const named = [...Object.entries(request.headers), ...new URLSearchParams(request.query)];
        const metadata = named.filter(([header]) => header.startsWith('x-amz-meta-'));
        const type = request.headers['content-type'] ?? 'binary/octet-stream';
        this.#objects.set(name, { bytes: payload, type, metadata });
        return emptyResponse(200, [...IDS, ['ETag', etag(payload)], ['x-amz-checksum-crc32', base64Crc32(payload)]]);
      }
      case 'GET':
      case 'HEAD':
        return this.#get(request, name);
      case 'DELETE':
        this.#objects.delete(name);
        return emptyResponse(204, IDS);
      default:
        return errorResponse(['MethodNotAllowed', 'The specified method is not allowed'], request);
    }
  }

  #get(request: ReceivedRequest, name: string): StandInResponse {
    const object = this.#objects.get(name);
    if (object === undefined) return errorResponse(['NoSuchKey', 'The specified key does not exist.'], request);
    const common = [
      ...IDS,
      ['Last-Modified', LAST_MODIFIED],
      ['ETag', etag(object.bytes)],
      ['Accept-Ranges', 'bytes'],
      ['Content-Type', object.type],
      ...object.metadata,
    ] as (readonly [string, string])[];
    if (request.headers['if-none-match'] === etag(object.bytes)) return emptyResponse(304, common);
    const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    if (range === null) {
      const crc = request.headers['x-amz-checksum-mode'] === 'ENABLED';
      if (crc) common.push(['x-amz-checksum-crc32', base64Crc32(object.bytes)]);
      const length = ['Content-Length', String(object.bytes.length)] as const;
      return { status: 200, headers: [...common, length], body: object.bytes };
    }
    const from = Number(range[1]);
    const to = range[2] === '' ? object.bytes.length - 1 : Math.min(Number(range[2]), object.bytes.length - 1);
    if (from > to) return errorResponse(['InvalidRange', 'The requested range is not satisfiable'], request);
    const contentRange = ['Content-Range', `bytes ${from}-${to}/${object.bytes.length}`] as const;
    return { status: 206, headers: [...common, contentRange], body: object.bytes.subarray(from, to + 1) };
  }

  #list(bucket: string, query: URLSearchParams): StandInResponse {
    const prefix = query.get('prefix') ?? '';
    const names = this.objectNames.filter((name) => name.startsWith(`${bucket}/${prefix}`));
    const contents = names.map((name) => {
      const key = name.slice(bucket.length + 1);
      const bytes = this.bytesOf(name)!;
      const shown = query.get('encoding-type') === 'url' ? encodeURIComponent(key) : escapeXml(key);
      return (
        `<Contents><Key>${shown}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>` +
        `<ETag>${escapeXml(etag(bytes))}</ETag><Size>${bytes.length}</Size><StorageClass>STANDARD</StorageClass></Contents>`
      );
    });
    return xmlResponse(
      200,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name>` +
        `<Prefix>${escapeXml(prefix)}</Prefix><KeyCount>${names.length}</KeyCount><MaxKeys>1000</MaxKeys>` +
        `<IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`,
    );
  }

  #deleteMany(bucket: string, payload: Buffer): StandInResponse {
    const keys = [...payload.toString('utf8').matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) => match[1]!);
    for (const key of keys) this.#objects.delete(`${bucket.replace(/\/$/, '')}/${key}`);
    return xmlResponse(
      200,
      `<DeleteResult>${keys.map((key) => `<Deleted><Key>${key}</Key></Deleted>`).join('')}</DeleteResult>`,
    );
  }

  #createUpload(name: string): StandInResponse {
    const uploadId = `upload-${++this.#uploadCount}`;
    this.#uploads.set(uploadId, new Map());
    const [bucket, ...key] = name.split('/');
    return xmlResponse(
      200,
      `<InitiateMultipartUploadResult><Bucket>${bucket}</Bucket><Key>${escapeXml(key.join('/'))}</Key>` +
        `<UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  #onUpload(
    request: ReceivedRequest,
    name: string,
    uploadId: string,
    query: URLSearchParams,
    payload: Buffer,
  ): StandInResponse {
    const parts = this.#uploads.get(uploadId);
    if (parts === undefined) return errorResponse(['NoSuchUpload', 'The specified upload does not exist.'], request);
    if (request.method === 'PUT') {
      parts.set(Number(query.get('partNumber')), payload);
      return emptyResponse(200, [...IDS, ['ETag', etag(payload)]]);
    }
    this.#uploads.delete(uploadId);
    if (request.method === 'DELETE') return emptyResponse(204, IDS);
    const numbers = [...payload.toString('utf8').matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((m) => Number(m[1]));
    const bytes = Buffer.concat(numbers.map((number) => parts.get(number) ?? Buffer.alloc(0)));
    this.#objects.set(name, { bytes, type: 'binary/octet-stream', metadata: [] });
    const [bucket, ...key] = name.split('/');
    return xmlResponse(
      200,
      `<CompleteMultipartUploadResult><Location>${this.origin}/${name}</Location><Bucket>${bucket}</Bucket>` +
        `<Key>${escapeXml(key.join('/'))}</Key><ETag>"${'0'.repeat(32)}-${numbers.length}"</ETag></CompleteMultipartUploadResult>`,
    );
  }
}

/** Throttling of one customer: a 503 that is not an outage. */
export const S3_SLOW_DOWN_RESPONSE: StandInResponse = xmlResponse(
  503,
  errorBody('SlowDown', 'Please reduce your request rate.'),
);

const isProblem = (value: unknown): value is S3Problem => Array.isArray(value);
const etag = (bytes: Buffer): string => `"${createHash('md5').update(bytes).digest('hex')}"`;

function errorResponse([code, message]: S3Problem, request: ReceivedRequest): StandInResponse {
  const status = STATUS[code] ?? 400;
  return request.method === 'HEAD' ? emptyResponse(status, IDS) : xmlResponse(status, errorBody(code, message));
}

function errorBody(code: string, message: string): string {
  return `<Error><Code>${code}</Code><Message>${message}</Message><RequestId>STANDIN0REQUEST1</RequestId></Error>`;
}

function xmlResponse(status: number, body: string): StandInResponse {
  return { status, headers: [XML, ...IDS], body: utf8(`<?xml version="1.0" encoding="UTF-8"?>\n${body}`) };
}

function escapeXml(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
