/**
 * Time-based one-time passwords (RFC 6238) with the parameters that all authenticator apps support: SHA-1, 6 digits,
 * steps of 30 s. Pure: the caller gives the time and stores the newest accepted step.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

export const TOTP_SECRET_BYTES = 20;
const STEP_MS = 30_000;
const DIGITS = 6;
/** Steps before and after the current one that are accepted: the clock of a phone may be off by 30 s. */
const STEPS_TOLERATED = 1;
const BASE32_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const BITS_PER_CHAR = 5;

export const isTotpCode = (code: string): boolean => /^\d{6}$/.test(code);

/** Returns the code of a step (RFC 4226 §5.3 with the step as counter). */
export function computeTotpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac[mac.length - 1]! & 0x0f;
  const truncated = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(truncated % 10 ** DIGITS).padStart(DIGITS, '0');
}

export const totpStepAt = (nowMs: number): number => Math.floor(nowMs / STEP_MS);

/**
 * Returns the step of a code that is valid now and newer than `lastStep`; null when the code is wrong or was used.
 * Compares all tolerated steps in constant time.
 */
export function findTotpStep(secret: Buffer, code: string, nowMs: number, lastStep: number): number | null {
  const currentStep = totpStepAt(nowMs);
  let found: number | null = null;
  for (let step = currentStep - STEPS_TOLERATED; step <= currentStep + STEPS_TOLERATED; step++) {
    const matches = timingSafeEqual(Buffer.from(computeTotpCode(secret, step)), Buffer.from(code));
    if (matches && step > lastStep) found ??= step;
  }
  return found;
}

/** RFC 4648 §6 without padding, as authenticator apps read it. */
export function encodeBase32(bytes: Buffer): string {
  let text = '';
  let bits = 0;
  // The bits that are written already stay above, and leave at the top: shifts are of 32 bits.
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= BITS_PER_CHAR) {
      bits -= BITS_PER_CHAR;
      text += BASE32_ALPHABET[(value >>> bits) & 31];
    }
  }
  return bits === 0 ? text : text + BASE32_ALPHABET[(value << (BITS_PER_CHAR - bits)) & 31];
}

/** The address that an authenticator app reads from a QR code. */
export function buildOtpauthUrl(issuer: string, account: string, secret: Buffer): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${encodeBase32(secret)}&issuer=${encodeURIComponent(issuer)}`;
}
