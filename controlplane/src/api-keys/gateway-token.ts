/**
 * The gateway token (docs/contract.md#gateway-tokens): `acg_` and 64 hexadecimal digits. Only its SHA-256 is stored.
 */
import { createHash } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { secretBytes } from '../http/secret-bytes.js';

const PREFIX = 'acg_';
const SHOWN_DIGITS = 8;

interface NewGatewayToken {
  readonly secretKey: Secret;
  readonly keyPrefix: string;
  readonly tokenHash: Buffer;
}

export function newGatewayToken(): NewGatewayToken {
  const secretKey = PREFIX + secretBytes().toString('hex');
  return {
    secretKey: new Secret(secretKey),
    keyPrefix: secretKey.slice(0, PREFIX.length + SHOWN_DIGITS),
    tokenHash: createHash('sha256').update(secretKey).digest(),
  };
}
