/**
 * argon2id on the library's threads, off the event loop. At most `CONCURRENT_MAX` run at once (each takes 19 MiB and a
 * thread of the pool that files need too); the others wait, address by address in turn.
 */
import { randomBytes } from 'node:crypto';
import { clientNetwork } from '@acg/base/client-network';
import { hash, type Options, verify } from '@node-rs/argon2';
import { InvalidInput } from '../domain/errors.js';
import { FairPlaces } from '../domain/fair-places.js';
import { isGuessedPassword } from './guessed-passwords.js';

/** OWASP's first choice for argon2id at 19 MiB (the library's default algorithm is argon2id). */
const COST: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
const CONCURRENT_MAX = 2;
const WAITING_MAX = 1_000;

export class PasswordHasher {
  readonly #places = new FairPlaces({ runningMax: CONCURRENT_MAX, waitingMax: WAITING_MAX, what: 'sign-ins' });
  /** A hash that no password matches: verifying against it takes as long as against a user's. */
  readonly #decoy = hash(randomBytes(32).toString('base64'), COST);

  /** For whom is asked: the client's address. Throws {@link InvalidInput} for a password that everybody guesses. */
  async hash(password: string, ip: string): Promise<string> {
    if (isGuessedPassword(password)) throw new InvalidInput('the password is one that many people use: choose another');
    return this.#places.run(clientNetwork(ip), () => hash(normalise(password), COST));
  }

  /** `stored` null (no such user) costs the same time and is always false. */
  async verify(stored: string | null, password: string, ip: string): Promise<boolean> {
    const against = stored ?? (await this.#decoy);
    const work = () => verify(against, normalise(password)).catch(() => false);
    return (await this.#places.run(clientNetwork(ip), work)) && stored !== null;
  }
}

/** One password typed on two keyboards may arrive composed or decomposed (NIST SP 800-63B §5.1.1.2). */
const normalise = (password: string): string => password.normalize('NFKC');
