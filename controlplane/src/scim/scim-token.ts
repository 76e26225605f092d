/** The format of a SCIM token: `acgs_` and 64 hexadecimal digits. Only its SHA-256 is stored. */
import { createHash } from 'node:crypto';
import { Secret } from '@acg/base/secret';

const PREFIX = 'acgs_';
const PREFIX_DIGITS = 8;
const TOKEN_FORMAT = /^acgs_[0-9a-f]{64}$/;

interface GeneratedToken {
  readonly secretToken: Secret;
  readonly tokenPrefix: string;
  readonly tokenHash: Buffer;
}

/** Formats 32 secret bytes as a SCIM token. */
export function createScimToken(secretBytes: Buffer): GeneratedToken {
  const token = PREFIX + secretBytes.toString('hex');
  return {
    secretToken: new Secret(token),
    tokenPrefix: token.slice(0, PREFIX.length + PREFIX_DIGITS),
    tokenHash: hashScimToken(token),
  };
}

export const isScimToken = (token: string): boolean => TOKEN_FORMAT.test(token);
export const hashScimToken = (token: string): Buffer => createHash('sha256').update(token).digest();
