/** Checksums that S3 clients append to a body (`x-amz-checksum-*`): base64 of the big-endian value or digest. */
import { createHash, type Hash } from 'node:crypto';
import { crc32 } from 'node:zlib';

export interface StreamingChecksum {
  update(bytes: Buffer): void;
  /** Base64, as in the header. */
  digest(): string;
}

/** Creates the checksum for a trailer name. Null for an unknown algorithm, which is then not verified. */
export function createChecksum(trailer: string): StreamingChecksum | null {
  switch (trailer) {
    case 'x-amz-checksum-crc32':
      return new Crc(crc32);
    case 'x-amz-checksum-crc32c':
      return new Crc(crc32c);
    case 'x-amz-checksum-crc64nvme':
      return new Crc64Nvme();
    case 'x-amz-checksum-sha1':
      return new HashChecksum(createHash('sha1'));
    case 'x-amz-checksum-sha256':
      return new HashChecksum(createHash('sha256'));
    default:
      return null;
  }
}

class Crc implements StreamingChecksum {
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

class HashChecksum implements StreamingChecksum {
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

/** CRC-32C of `bytes`, continued from an earlier `value` (0 at the start). */
export function crc32c(bytes: Buffer, value: number): number {
  let crc = ~value;
  for (let i = 0; i < bytes.length; i++) crc = CRC32C_TABLE[(crc ^ bytes[i]!) & 0xff]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

const CRC64_LOW = new Uint32Array(256);
const CRC64_HIGH = new Uint32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let value = BigInt(byte);
  for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n;
  CRC64_LOW[byte] = Number(value & 0xffffffffn);
  CRC64_HIGH[byte] = Number(value >> 32n);
}

/** CRC-64/NVME, the default of newer AWS clients. Reflected polynomial, kept as two 32-bit halves. */
class Crc64Nvme implements StreamingChecksum {
  #low = 0xffffffff;
  #high = 0xffffffff;

  update(bytes: Buffer): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < bytes.length; i++) {
      const index = (low ^ bytes[i]!) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ CRC64_LOW[index]!;
      high = (high >>> 8) ^ CRC64_HIGH[index]!;
    }
    this.#low = low;
    this.#high = high;
  }

  digest(): string {
    const out = Buffer.alloc(8);
    out.writeUInt32BE(~this.#high >>> 0);
    out.writeUInt32BE(~this.#low >>> 0, 4);
    return out.toString('base64');
  }
}
