/** The signature of a webhook delivery (docs/webhooks.md#signatures), for the control plane and for `acg listen`. */
import { createHmac } from 'node:crypto';

/** Every signing secret begins with it. */
export const SIGNING_SECRET_PREFIX = 'whsec_';

/** Lowercase hex HMAC-SHA256 of the raw body. The key is the whole secret, prefix included. */
export const signWebhookBody = (secret: string, body: string): string =>
  createHmac('sha256', secret).update(body, 'utf8').digest('hex');
