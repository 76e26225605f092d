/**
 * argon2id on the library's threads, off the event loop. At most `CONCURRENT_MAX` run at once (each takes 19 MiB and a
 * thread of the pool that files need too); the others wait, address by address in turn.
 */
import { randomBytes } from 'node:crypto';
import { toClientNetworkKey } from '@acg/base/client-network';
import { hash, type Options, verify } from '@node-rs/argon2';
import { FairSemaphore } from '../../concurrency/fair-semaphore.js';
import { InvalidInput } from '../../domain/errors.js';
import { isWeakPassword } from './weak-passwords.js';

/** OWASP's first choice for argon2id at 19 MiB (the library's default algorithm is argon2id). */
const ARGON2_OPTIONS: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
const CONCURRENT_HASHES_MAX = 2;
const WAITING_MAX = 1_000;

export class PasswordHasher {
  readonly #semaphore = new FairSemaphore({
    runningMax: CONCURRENT_HASHES_MAX,
    waitingMax: WAITING_MAX,
    subject: 'sign-ins',
  });
  /** A hash that no password matches: verifying against it takes as long as against a user's. */
  readonly #decoyHash = hash(randomBytes(32).toString('base64'), ARGON2_OPTIONS);

  /** For whom is asked: the client's address. Throws {@link InvalidInput} for a password that everybody guesses. */
  async hash(password: string, ip: string): Promise<string> {
    if (isWeakPassword(password)) throw new InvalidInput('the password is one that many people use: choose another');
    return this.#semaphore.run(toClientNetworkKey(ip), () => hash(normalisePassword(password), ARGON2_OPTIONS));
  }

  /** `stored` null (no such user) costs the same time and is always false. */
  async verify(storedHash: string | null, password: string, ip: string): Promise<boolean> {
    const against = storedHash ?? (await this.#decoyHash);
    const work = () => verify(against, normalisePassword(password)).catch(() => false);
    return (await this.#semaphore.run(toClientNetworkKey(ip), work)) && storedHash !== null;
  }
}

/** One password typed on two keyboards may arrive composed or decomposed (NIST SP 800-63B §5.1.1.2). */
const normalisePassword = (password: string): string => password.normalize('NFKC');
