/** All that must be in no log and in no answer. */
import { REAL } from '../providers/credentials.js';
import { SENTINEL_PASSWORD } from '../redis-sentinel.js';
import { BURST_KINDS } from './burst-plan.js';
import { DATABASE_PASSWORD } from './postgres-part.js';
import { OWN_KEY } from './provider-settings.js';
import type { Tenants } from './tenants.js';
import type { World } from './world.js';

/** Of the many bursts the first of each kind: every answer is searched for every secret. */
export function secretsOf(
  { stack }: World,
  { lasting, steady, bursts, webhookSecrets }: Tenants,
): Record<string, string> {
  const { INTERNAL_TOKEN, JWT_SECRET, MASTER_KEYS } = stack.control.env;
  const agents = [...lasting, ...steady, ...bursts.slice(0, BURST_KINDS.length)];
  return {
    'the credential of openai': REAL.openai,
    'the secret key of s3': REAL.s3.secretAccessKey,
    'the credential of the own provider': OWN_KEY,
    'the internal token': INTERNAL_TOKEN!,
    'the secret of sessions': JWT_SECRET!,
    'the master key': MASTER_KEYS!.split(':')[1]!,
    'the password of the database': DATABASE_PASSWORD,
    'the password of the sentinels': SENTINEL_PASSWORD,
    ...Object.fromEntries(agents.map(({ agent, token }) => [`the gateway token of ${agent}`, token])),
    ...Object.fromEntries([...webhookSecrets].map(([name, secret]) => [`the webhook secret of ${name}`, secret])),
  };
}
