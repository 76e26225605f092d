/** Accepting an invitation: an existing user just joins, anybody else becomes a user; both end up logged in. */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/trail.js';
import { hashEmailToken } from '../auth/email-token.js';
import type { PasswordHasher } from '../auth/password-hasher.js';
import type { LoginReply } from '../auth/schema.js';
import type { AuthService } from '../auth/service.js';
import type { Sql } from '../db/sql.js';
import { InvalidInput } from '../errors.js';
import * as store from './store.js';

export interface Acceptance {
  readonly token: string;
  /** Needed by, and used for, a new user only. */
  readonly name?: string;
  /** A new user's, or the existing one's as a proof of owning the account. */
  readonly password?: string;
}

const UNKNOWN = 'this invitation is unknown, used or expired: ask for a new one';

export class InvitationAcceptance {
  constructor(
    readonly sql: Sql,
    readonly hasher: PasswordHasher,
    readonly auth: AuthService,
  ) {}

  /** `session`: the token of a session that the caller happens to have. */
  async accept(request: Acceptance, session: string | null, ip: string): Promise<LoginReply> {
    const tokenHash = hashEmailToken(request.token);
    const open = await store.findInvitation(this.sql, tokenHash);
    if (open === null) throw new InvalidInput(UNKNOWN);
    // Outside of the transaction: hashing waits its turn, and locks must not.
    const passwordHash = request.password === undefined ? null : await this.hasher.hash(request.password);
    const ownsAccount = await this.auth.provesAccount(open.email, request.password, session);
    return this.sql.begin(async (tx) => {
      await store.lockMembers(tx, open.orgId);
      const invitation = await store.findInvitation(tx, tokenHash);
      if (invitation === null) throw new InvalidInput(UNKNOWN);
      const { orgId, email, role } = invitation;
      const id = uuidv7(Date.now());
      const person = { id, email, name: request.name, passwordHash, ownsAccount };
      const user = await this.auth.admit(tx, person, orgId, role);
      await store.deleteInvitation(tx, invitation.id);
      const actor = { userId: user.id, email, orgId, ip };
      await recordAudit(tx, actor, 'member.join', { type: 'user', id: user.id }, { role: [null, role] });
      return this.auth.openSession(tx, user, orgId);
    });
  }
}
