/**
 * Single-use tokens for e-mails: 32 random bytes, of which only the SHA-256 is stored
 * (docs/contract.md#management-api).
 */
import { createHash, randomBytes } from 'node:crypto';

interface EmailToken {
  readonly token: string;
  readonly hash: Buffer;
}

export function createEmailToken(): EmailToken {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashEmailToken(token) };
}

export const hashEmailToken = (token: string): Buffer => createHash('sha256').update(token).digest();
