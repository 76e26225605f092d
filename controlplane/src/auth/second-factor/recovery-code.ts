/**
 * Recovery codes: 80 random bits each, so that they can be stored as a plain SHA-256 and need no limit on guesses. Each
 * works once.
 */
import { createHash, randomBytes } from 'node:crypto';
import { encodeBase32 } from './totp.js';

export const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;
const RECOVERY_CODE = /^[A-Z2-7]{16}$/;

/** Formats like `ABCD-EFGH-IJKL-MNOP`. */
export const createRecoveryCodes = (): readonly string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    encodeBase32(randomBytes(RECOVERY_CODE_BYTES)).replaceAll(/.{4}(?=.)/g, '$&-'),
  );

/** Ignores case, spaces and hyphens. Null: the text has not the form of a recovery code. */
export function hashRecoveryCode(text: string): Buffer | null {
  const code = text.toUpperCase().replaceAll(/[\s-]/g, '');
  return RECOVERY_CODE.test(code) ? createHash('sha256').update(code).digest() : null;
}
