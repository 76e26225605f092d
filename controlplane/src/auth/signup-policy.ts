/** Who may sign up: anybody, only the first user of this installation, or nobody who was not invited. */
import type { Sql, Tx } from '../db/sql.js';
import { Forbidden } from '../domain/errors.js';

type SignupMode = 'open' | 'first' | 'closed';

export class SignupPolicy {
  /** Once there is a user there always was one. */
  #hasUserEver = false;

  constructor(
    readonly sql: Sql,
    readonly configured: SignupMode,
  ) {}

  /** What holds now: `first` becomes `closed` with the first user. */
  async currentMode(): Promise<SignupMode> {
    if (this.configured !== 'first') return this.configured;
    return (await this.#hasUser(this.sql)) ? 'closed' : 'first';
  }

  /** Before a password is hashed for nothing. */
  async assertOpen(): Promise<void> {
    if ((await this.currentMode()) === 'closed') throw createSignupClosedError();
  }

  /** In the transaction of the signup: of several at once, one is the first. */
  async lockAndAssertOpen(tx: Tx): Promise<void> {
    if (this.configured === 'open') return;
    await tx`select pg_advisory_xact_lock(hashtext('first signup'))`;
    if (this.configured === 'closed' || (await this.#hasUser(tx))) throw createSignupClosedError();
  }

  async #hasUser(sql: Sql | Tx): Promise<boolean> {
    this.#hasUserEver ||= (await sql`select 1 from users limit 1`).length > 0;
    return this.#hasUserEver;
  }
}

const createSignupClosedError = () =>
  new Forbidden('signup is closed here: ask a member of an organization for an invitation');
