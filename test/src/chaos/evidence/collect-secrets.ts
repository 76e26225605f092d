/** Secrets that must not appear in any log or response. */

import { SENTINEL_PASSWORD } from '../../fixtures/sentinel-process.js';
import { PROVIDER_CREDENTIALS } from '../../stand-in-providers/provider-credentials.js';
import type { ChaosEnvironment } from '../chaos-environment.js';
import { DATABASE_PASSWORD } from '../faults/chaos-postgres.js';
import { BURST_KINDS } from '../faults/limit-burst-plan.js';
import { CUSTOM_PROVIDER_KEY } from '../provider-settings.js';
import type { Tenants } from '../traffic/tenants.js';

/** Takes only the first burst agent of each kind: every response is searched for every secret. */
export function collectSecrets(
  { stack }: ChaosEnvironment,
  { longLivedAgents: lasting, steady, bursts, webhookSecrets }: Tenants,
): Record<string, string> {
  const { INTERNAL_TOKEN, JWT_SECRET, MASTER_KEYS } = stack.controlPlane.env;
  const agents = [...lasting, ...steady, ...bursts.slice(0, BURST_KINDS.length)];
  return {
    'the credential of openai': PROVIDER_CREDENTIALS.openai,
    'the secret key of s3': PROVIDER_CREDENTIALS.s3.secretAccessKey,
    'the credential of the custom provider': CUSTOM_PROVIDER_KEY,
    'the internal token': INTERNAL_TOKEN!,
    'the secret of sessions': JWT_SECRET!,
    'the master key': MASTER_KEYS!.split(':')[1]!,
    'the password of the database': DATABASE_PASSWORD,
    'the password of the sentinels': SENTINEL_PASSWORD,
    ...Object.fromEntries(agents.map(({ agent, token }) => [`the gateway token of ${agent}`, token])),
    ...Object.fromEntries([...webhookSecrets].map(([name, secret]) => [`the webhook secret of ${name}`, secret])),
  };
}
