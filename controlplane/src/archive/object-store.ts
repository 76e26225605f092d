/**
 * Where the archive is: a directory, or a bucket of any S3-compatible storage. `put` replaces a whole object and resolves
 * when it is stored; a failed one leaves the previous object or none.
 */
import { createHash, randomUUID } from 'node:crypto';
import { access, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Secret } from '@acg/base/secret';
import aws4 from 'aws4';
import { request } from 'undici';

export interface ObjectStore {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Null: no such object. Of an object that is larger than `bytesMax`, one byte more is returned. Throws
   * {@link StorageUnavailable} where the storage cannot say.
   */
  get(key: string, bytesMax: number): Promise<Buffer | null>;
}

/** The storage could not be used: it is away, full, slow, or rejects the request. That says nothing about what it holds. */
export class StorageUnavailable extends Error {}

/** Runs `work`; every failure becomes {@link StorageUnavailable}. The message has no path of the machine. */
async function useStorage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StorageUnavailable) throw error;
    const { code, name } = error as NodeJS.ErrnoException;
    throw new StorageUnavailable(`${what}: ${code ?? name}`, { cause: error });
  }
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
const ERROR_BYTES_MAX = 65_536;

export const openObjectStore = (location: ArchiveLocation, timeoutMs = TIMEOUT_MS): ObjectStore =>
  location.kind === 's3' ? new S3ObjectStore(location, timeoutMs) : new FileObjectStore(location.path);

class FileObjectStore implements ObjectStore {
  constructor(readonly root: string) {}

  put(key: string, bytes: Uint8Array): Promise<void> {
    return useStorage(`write ${key}`, async () => {
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
    });
  }

  get(key: string, bytesMax: number): Promise<Buffer | null> {
    return useStorage(`read ${key}`, async () => {
      try {
        const file = await open(join(this.root, key));
        return await readBounded(file.createReadStream({ end: bytesMax }), bytesMax);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        await access(this.root); // a directory that is not mounted says nothing about its files
        return null;
      }
    });
  }
}

/** Reads at most one byte more than `bytesMax`. */
async function readBounded(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax + 1);
}

class S3ObjectStore implements ObjectStore {
  constructor(
    readonly location: S3Location,
    readonly timeoutMs: number,
  ) {}

  put(key: string, bytes: Uint8Array): Promise<void> {
    return useStorage(`PUT ${key}`, async () => {
      const { status, body } = await this.#send('PUT', key, bytes, ERROR_BYTES_MAX);
      if (status !== 200) throw new StorageUnavailable(`PUT ${key}: ${describeS3Error(status, body)}`);
    });
  }

  get(key: string, bytesMax: number): Promise<Buffer | null> {
    return useStorage(`GET ${key}`, async () => {
      const { status, body } = await this.#send('GET', key, null, Math.max(bytesMax, ERROR_BYTES_MAX));
      if (status === 200) return body.subarray(0, bytesMax + 1);
      if (status === 404 && body.includes('NoSuchKey')) return null;
      throw new StorageUnavailable(`GET ${key}: ${describeS3Error(status, body)}`);
    });
  }

  async #send(method: 'PUT' | 'GET', key: string, bytes: Uint8Array | null, bytesMax: number) {
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
    return { status: answer.statusCode, body: await readBounded(answer.body, bytesMax) };
  }
}

const describeS3Error = (status: number, body: Buffer): string =>
  `${status} ${/<Code>([A-Za-z]{1,60})<\/Code>/.exec(body.toString('latin1'))?.[1] ?? ''}`.trim();
