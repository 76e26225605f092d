/**
 * Where the archive is: a directory, or a bucket of any S3-compatible storage. `put` replaces a whole object and resolves
 * when it is stored; a failed one leaves the previous object or none.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Secret } from '@acg/base/secret';
import aws4 from 'aws4';
import { request } from 'undici';

export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Null: no such object. */
  get(key: string): Promise<Buffer | null>;
}

interface S3Location {
  readonly kind: 's3';
  readonly bucket: string;
  /** Without slashes at its ends; may be empty. */
  readonly prefix: string;
  /** Origin, without a trailing slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
}

export type ArchiveLocation = S3Location | { readonly kind: 'file'; readonly path: string };

/** For a request with a part of some 6 MiB. */
const TIMEOUT_MS = 60_000;

export const openObjectStore = (location: ArchiveLocation, timeoutMs = TIMEOUT_MS): ObjectStore =>
  location.kind === 's3' ? new S3ObjectStore(location, timeoutMs) : new FileObjectStore(location.path);

class FileObjectStore implements ObjectStore {
  constructor(readonly root: string) {}

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.root, key);
    await mkdir(dirname(path), { recursive: true });
    const temporary = `${path}.${randomUUID()}.tmp`;
    try {
      const file = await open(temporary, 'w');
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async get(key: string): Promise<Buffer | null> {
    try {
      return await readFile(join(this.root, key));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }
}

class S3ObjectStore implements ObjectStore {
  constructor(
    readonly location: S3Location,
    readonly timeoutMs: number,
  ) {}

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const { status, body } = await this.#send('PUT', key, bytes);
    if (status !== 200) throw new Error(`PUT ${key}: ${describeS3Error(status, body)}`);
  }

  async get(key: string): Promise<Buffer | null> {
    const { status, body } = await this.#send('GET', key, null);
    if (status === 200) return body;
    if (status === 404 && body.includes('NoSuchKey')) return null;
    throw new Error(`GET ${key}: ${describeS3Error(status, body)}`);
  }

  async #send(method: 'PUT' | 'GET', key: string, bytes: Uint8Array | null) {
    const { bucket, prefix, endpoint, region, accessKeyId, secretAccessKey } = this.location;
    const name = prefix === '' ? key : `${prefix}/${key}`;
    const path = `/${bucket}/${name.split('/').map(encodeURIComponent).join('/')}`;
    const signed = aws4.sign(
      {
        method,
        host: new URL(endpoint).host,
        path,
        service: 's3',
        region,
        headers: {
          'x-amz-content-sha256': createHash('sha256')
            .update(bytes ?? '')
            .digest('hex'),
        },
      },
      { accessKeyId, secretAccessKey: secretAccessKey.reveal() },
    );
    const headers = Object.fromEntries(
      Object.entries(signed.headers ?? {}).flatMap(([header, value]) =>
        header.toLowerCase() === 'host' ? [] : [[header, String(value)]],
      ),
    );
    const answer = await request(`${endpoint}${path}`, {
      method,
      headers,
      body: bytes,
      signal: AbortSignal.timeout(this.timeoutMs),
    });
    return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) };
  }
}

const describeS3Error = (status: number, body: Buffer): string =>
  `${status} ${/<Code>([A-Za-z]{1,60})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? ''}`.trim();
