/**
 * UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then random bits. Ids created by one process within one
 * millisecond are not ordered among each other.
 */
import { randomFillSync } from 'node:crypto';

const RANDOM_BYTES = 10;
const POOL_BYTES = RANDOM_BYTES * 1024; // one system call per 1024 ids
const pool = Buffer.allocUnsafe(POOL_BYTES);
let offset = POOL_BYTES;
const DIGITS = Buffer.from('0123456789abcdef');
/**
 * Overwritten for every id and decoded to one flat string. A concatenated string costs more wherever the id is used.
 */
const text = Buffer.from('00000000-0000-7000-8000-000000000000');
/** Positions of the time digits. */
const TIME_AT = [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12];
/** Positions of the random bytes, two digits each; the digits of version and variant are between them. */
const RANDOM_AT = [16, 21, 24, 26, 28, 30, 32, 34];

let lastMs = -1;

export function uuidv7(nowMs: number): string {
  if (offset === POOL_BYTES) {
    randomFillSync(pool);
    offset = 0;
  }
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    let rest = Math.floor(nowMs);
    for (let i = TIME_AT.length - 1; i >= 0; i--) {
      const above = Math.floor(rest / 16); // no bit shifts: they are limited to 32 bits, the time has 48
      text[TIME_AT[i]!] = DIGITS[rest - above * 16]!;
      rest = above;
    }
  }
  const at = offset;
  offset += RANDOM_BYTES;
  text[15] = DIGITS[pool[at]! & 0x0f]!;
  text[19] = DIGITS[0x8 | (pool[at]! >> 6)]!;
  text[20] = DIGITS[pool[at + 1]! & 0x0f]!;
  for (let i = 0; i < RANDOM_AT.length; i++) {
    const byte = pool[at + 2 + i]!;
    text[RANDOM_AT[i]!] = DIGITS[byte >> 4]!;
    text[RANDOM_AT[i]! + 1] = DIGITS[byte & 0x0f]!;
  }
  return text.toString('latin1');
}
