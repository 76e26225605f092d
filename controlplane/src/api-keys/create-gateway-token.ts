/**
 * The format of a gateway token (docs/contract.md#gateway-tokens): `acg_` and 64 hexadecimal digits. Only its SHA-256
 * is stored.
 */
import { createHash } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { createSecretBytes } from '../http/same-token-bytes-on-idempotent-retry.js';

const PREFIX = 'acg_';
const PREFIX_DIGITS = 8;

interface NewGatewayToken {
  readonly secretKey: Secret;
  readonly keyPrefix: string;
  readonly tokenHash: Buffer;
}

export function createGatewayToken(): NewGatewayToken {
  const secretKey = PREFIX + createSecretBytes().toString('hex');
  return {
    secretKey: new Secret(secretKey),
    keyPrefix: prefixOfGatewayToken(secretKey),
    tokenHash: hashGatewayToken(secretKey),
  };
}

export const hashGatewayToken = (token: string): Buffer => createHash('sha256').update(token).digest();
export const prefixOfGatewayToken = (token: string): string => token.slice(0, PREFIX.length + PREFIX_DIGITS);
