/** Checksums that S3 clients append to a body (`x-amz-checksum-*`): base64 of the big-endian value or digest. */
import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface RunningChecksum {
  update(bytes: Buffer): void;
  /** Base64, as it stands in the header. */
  digest(): string;
}

/** A checksum by the name of its trailer; null for an algorithm that is not known (it is not verified then). */
export function checksumFor(trailer: string): RunningChecksum | null {
  switch (trailer) {
    case 'x-amz-checksum-crc32':
      return new Crc(crc32);
    case 'x-amz-checksum-crc32c':
      return new Crc(crc32c);
    case 'x-amz-checksum-sha1':
      return new HashChecksum(createHash('sha1'));
    case 'x-amz-checksum-sha256':
      return new HashChecksum(createHash('sha256'));
    default:
      return null;
  }
}

class Crc implements RunningChecksum {
  readonly #step: (bytes: Buffer, value: number) => number;
  #value = 0;

  constructor(step: (bytes: Buffer, value: number) => number) {
    this.#step = step;
  }

  update(bytes: Buffer): void {
    this.#value = this.#step(bytes, this.#value);
  }

  digest(): string {
    const out = Buffer.alloc(4);
    out.writeUInt32BE(this.#value >>> 0);
    return out.toString('base64');
  }
}

class HashChecksum implements RunningChecksum {
  readonly #hash: Hash;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  update(bytes: Buffer): void {
    this.#hash.update(bytes);
  }

  digest(): string {
    return this.#hash.digest('base64');
  }
}

/** Castagnoli polynomial, reflected. */
const CRC32C_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

/** CRC-32C of `bytes`, going on from an earlier `value` (0 at the start). */
export function crc32c(bytes: Buffer, value: number): number {
  let crc = ~value;
  for (let i = 0; i < bytes.length; i++) crc = CRC32C_TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}
