/**
 * UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits. Ids made in one process within one
 * millisecond are not ordered among each other.
 */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 10 * 1024; // one system call per 1024 ids
const pool = Buffer.allocUnsafe(POOL_BYTES);
let offset = POOL_BYTES;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

let lastMs = -1;
let lastPrefix = '';

export function uuidv7(nowMs: number): string {
  if (offset === POOL_BYTES) {
    randomFillSync(pool);
    offset = 0;
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    const hex = Math.floor(nowMs).toString(16).padStart(12, '0');
    lastPrefix = `${hex.slice(0, 8)}-${hex.slice(8)}-`;
  }
  const at = offset;
  offset += 10;
  return (
    lastPrefix +
    HEX[0x70 | (pool[at]! & 0x0f)]! +
    HEX[pool[at + 1]!]! +
    '-' +
    HEX[0x80 | (pool[at + 2]! & 0x3f)]! +
    HEX[pool[at + 3]!]! +
    '-' +
    HEX[pool[at + 4]!]! +
    HEX[pool[at + 5]!]! +
    HEX[pool[at + 6]!]! +
    HEX[pool[at + 7]!]! +
    HEX[pool[at + 8]!]! +
    HEX[pool[at + 9]!]!
  );
}
