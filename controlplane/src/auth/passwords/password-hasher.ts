/**
 * Hashes and verifies passwords with argon2id on the library's threads, off the event loop. At most
 * `CONCURRENT_HASHES_MAX` run at once: each takes 19 MiB and a thread of the pool that file access needs too. The
 * others wait, in turn per client network. Past `WAITING_MAX` they are rejected with `TooManyAttempts`.
 */
import { randomBytes } from 'node:crypto';
import { toClientNetworkKey } from '@acg/base/client-network-key';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import { hash, type Options, verify } from '@node-rs/argon2';
import { createQueueFullError, InvalidInput } from '../../domain/errors.js';
import { isWeakPassword } from './weak-passwords.js';

/** The library's default algorithm is argon2id. */
type Argon2Cost = Pick<Options, 'memoryCost' | 'timeCost'>;

/** OWASP's first choice for argon2id at 19 MiB. */
const OWASP_COST: Argon2Cost = { memoryCost: 19_456, timeCost: 2 };
const CONCURRENT_HASHES_MAX = 2;
const WAITING_MAX = 1_000;

export class PasswordHasher {
  readonly #semaphore = new FairSemaphore({
    runningMax: CONCURRENT_HASHES_MAX,
    waitingMax: WAITING_MAX,
    createError: () => createQueueFullError('sign-ins'),
  });
  /** A hash that no password matches. Verifying against it takes as long as against a user's hash. */
  readonly #decoyHash: Promise<string>;

  /** `cost`: lower in tests that are not about passwords. No setting of the process changes it. */
  constructor(private readonly cost: Argon2Cost = OWASP_COST) {
    this.#decoyHash = this.#hash(randomBytes(32).toString('base64'));
  }

  /** `ip`: the client's address, for fair queueing. Throws {@link InvalidInput} for a commonly used password. */
  async assertStrongAndHash(password: string, ip: string): Promise<string> {
    if (isWeakPassword(password)) throw new InvalidInput('the password is too common: choose another');
    return this.#semaphore.run(toClientNetworkKey(ip), () => this.#hash(password));
  }

  /** `storedHash` null (no such user) takes the same time and always returns false. */
  async verify(storedHash: string | null, password: string, ip: string): Promise<boolean> {
    const comparedHash = storedHash ?? (await this.#decoyHash);
    const verifyPassword = () => verify(comparedHash, normalisePassword(password)).catch(() => false);
    return (await this.#semaphore.run(toClientNetworkKey(ip), verifyPassword)) && storedHash !== null;
  }

  #hash(password: string): Promise<string> {
    return hash(normalisePassword(password), { ...this.cost, parallelism: 1, outputLen: 32 });
  }
}

/** The same password typed on two keyboards may arrive composed or decomposed (NIST SP 800-63B §5.1.1.2). */
const normalisePassword = (password: string): string => password.normalize('NFKC');
