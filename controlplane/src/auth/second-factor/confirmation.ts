/** Asks for the second factor again before what cannot be undone: deletions and changes of owners. */
import type { Tx } from '../../db/postgres-client.js';
import { ConfirmationRequired } from '../../domain/errors.js';
import type { Actor } from '../../http/route-access.js';
import * as store from './store.js';

/**
 * Throws {@link ConfirmationRequired} when the account of the actor has a second factor and its code was not given in
 * this session within the last 10 minutes. An account without a second factor passes.
 */
export async function assertConfirmed(tx: Tx, { userId, session }: Pick<Actor, 'userId' | 'session'>): Promise<void> {
  if (await store.needsConfirmation(tx, userId, session?.id ?? null)) {
    throw new ConfirmationRequired(
      'this needs a code of your second factor: send it to POST /v1/second-factor/verify, then repeat this call within 10 minutes',
    );
  }
}
