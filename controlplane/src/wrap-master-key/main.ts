/**
 * `npm run wrap-master-key -- ID SERVICE KEY`: creates a master key, lets a key service wrap it and prints its entry for
 * MASTER_KEYS (docs/operations.md#external-key-service). The key itself is neither printed nor stored.
 */
import { randomBytes } from 'node:crypto';
import { ConfigError, EnvReader } from '@acg/base/env-reader';
import { maskSecrets } from '@acg/base/log';
import { Secret } from '@acg/base/secret';
import { KEY_SERVICE_NAMES } from '../vault/key-services/key-service.js';
import { MASTER_KEY_ID, readKeyService } from '../vault/key-services/master-key-ring.js';

const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;
const EXIT_UNAVAILABLE = 69;
const KEY_BYTES = 32;
const USAGE = `usage: wrap-master-key ID ${KEY_SERVICE_NAMES.join('|')} KEY
ID: new id of the master key; KEY: name of the service's key, e.g. alias/gateway`;

async function wrapMasterKey([id, serviceName, serviceKey, ...rest]: readonly string[]): Promise<void> {
  const name = KEY_SERVICE_NAMES.find((known) => known === serviceName);
  if (id === undefined || !MASTER_KEY_ID.test(id) || name === undefined || !serviceKey || rest.length > 0) {
    process.stderr.write(`${USAGE}\n`);
    process.exitCode = EXIT_USAGE;
    return;
  }
  const read = new EnvReader(process.env);
  const service = readKeyService(read, name);
  read.throwIfInvalid();
  const key = new Secret(randomBytes(KEY_BYTES));
  const wrapped = await service!.wrap(serviceKey, id, key);
  // A permission to decrypt that is missing is noticed here and not at the next start of a control plane.
  const unwrapped = await service!.unwrap(id, wrapped);
  if (!unwrapped.reveal().equals(key.reveal())) throw new Error('the service returned another key than it has wrapped');
  process.stdout.write(`${id}:${name}:${wrapped}\n`);
}

try {
  await wrapMasterKey(process.argv.slice(2));
} catch (error) {
  const problems = error instanceof ConfigError ? error.problems : [(error as Error).message];
  for (const problem of problems) process.stderr.write(`wrap-master-key: ${maskSecrets(problem)}\n`);
  process.exitCode = error instanceof ConfigError ? EXIT_CONFIG : EXIT_UNAVAILABLE;
}
