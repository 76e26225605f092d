/** Signatures of deliveries (docs/webhooks.md#signatures). */
import { createHmac } from 'node:crypto';
import { Secret } from '@acg/base/secret';
import { createSecretBytes } from '../http/same-token-bytes-on-idempotent-retry.js';

const SECRET_PREFIX = 'whsec_';

/** A new signing secret: `whsec_` and 64 hex characters. */
export const createSigningSecret = (): Secret => new Secret(SECRET_PREFIX + createSecretBytes().toString('hex'));

/**
 * Lowercase hex HMAC-SHA256 of the raw body. The key is the whole secret string, prefix included
 * (docs/webhooks.md#signatures).
 */
export const signBody = (secret: Secret, body: string): string =>
  createHmac('sha256', secret.reveal()).update(body, 'utf8').digest('hex');
