/**
 * Decides who may sign up: `open` (everyone), `first` (only the first user of this installation) or `closed` (only
 * invited people).
 */
import type { Sql, Tx } from '../db/postgres-client.js';
import { Forbidden } from '../domain/errors.js';

type SignupMode = 'open' | 'first' | 'closed';

export class SignupPolicy {
  /** Stays true once a user exists: it saves the query. */
  #hasUserEver = false;

  constructor(
    readonly sql: Sql,
    readonly configured: SignupMode,
  ) {}

  /** The mode that applies now: `first` becomes `closed` with the first user. */
  async currentMode(): Promise<SignupMode> {
    if (this.configured !== 'first') return this.configured;
    return (await this.#hasUser(this.sql)) ? 'closed' : 'first';
  }

  /** Checks before the password is hashed, to save that work. */
  async assertOpen(): Promise<void> {
    if ((await this.currentMode()) === 'closed') throw createSignupClosedError();
  }

  /**
   * Checks again in the transaction of the signup, under a lock: of several concurrent signups only one is the first.
   */
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
  new Forbidden('sign-up is closed on this installation: ask a member of an organization for an invitation');
