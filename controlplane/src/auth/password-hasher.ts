/**
 * argon2id on the library's threads, off the event loop. At most `CONCURRENT_MAX` run at once (each takes 19 MiB and a
 * thread of the pool that DNS and files need too); the others wait in a bounded queue, past which callers get 429.
 */
import { randomBytes } from 'node:crypto';
import { hash, type Options, verify } from '@node-rs/argon2';
import { TooManyAttempts } from '../domain/errors.js';

/** OWASP's first choice for argon2id at 19 MiB (the library's default algorithm is argon2id). */
const COST: Options = { memoryCost: 19_456, timeCost: 2, parallelism: 1, outputLen: 32 };
const CONCURRENT_MAX = 2;
const WAITING_MAX = 1_000;

export class PasswordHasher {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  /** A hash that no password matches: verifying against it takes as long as against a user's. */
  readonly #decoy: Promise<string>;

  constructor() {
    this.#decoy = this.hash(randomBytes(32).toString('base64'));
  }

  hash(password: string): Promise<string> {
    return this.#bounded(() => hash(normalise(password), COST));
  }

  /** `stored` null (no such user) costs the same time and is always false. */
  async verify(stored: string | null, password: string): Promise<boolean> {
    const against = stored ?? (await this.#decoy);
    const matches = await this.#bounded(() => verify(against, normalise(password)).catch(() => false));
    return matches && stored !== null;
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= CONCURRENT_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw new TooManyAttempts('too many sign-ins at once: try again', 5);
      await new Promise<void>((resume) => this.#waiting.push(resume)); // its slot is handed over, not freed
    } else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }
}

/** One password typed on two keyboards may arrive composed or decomposed (NIST SP 800-63B §5.1.1.2). */
const normalise = (password: string): string => password.normalize('NFKC');
