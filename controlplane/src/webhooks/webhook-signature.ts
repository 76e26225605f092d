/** Signatures of deliveries (docs/webhooks.md#signatures). */
import { Secret } from '@acg/base/secret';
import { SIGNING_SECRET_PREFIX, signWebhookBody } from '@acg/base/webhook-body-signature';
import { createSecretBytes } from '../http/same-token-bytes-on-idempotent-retry.js';

/** A new signing secret: `whsec_` and 64 hex characters. */
export const createSigningSecret = (): Secret =>
  new Secret(SIGNING_SECRET_PREFIX + createSecretBytes().toString('hex'));

export const signBody = (secret: Secret, body: string): string => signWebhookBody(secret.reveal(), body);
