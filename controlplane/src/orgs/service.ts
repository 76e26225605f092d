/** Organizations beside the one of a signup: made and changed; rules and transactions. */
import { recordAudit } from '../audit/trail.js';
import { foundOrganization } from '../auth/found-organization.js';
import type { OrganizationWithRole } from '../auth/schema.js';
import { assertSession } from '../auth/sessions.js';
import type { Sql } from '../db/sql.js';
import { Conflict, Forbidden, NotFound } from '../domain/errors.js';
import type { Actor, Role } from '../http/access.js';
import { invalidate } from '../watch/invalidate.js';
import type { OrganizationPatch, OrganizationSettings } from './schema.js';
import * as store from './store.js';

/** Of one user, besides those that are being deleted. */
export const CREATED_MAX = 5;

export class OrganizationService {
  constructor(
    readonly sql: Sql,
    /** Anybody may make one. */
    readonly open: boolean,
  ) {}

  async create(actor: Actor, name: string): Promise<OrganizationWithRole> {
    if (!this.open) throw new Forbidden('new organizations are closed here: the operator has set SIGNUP');
    return this.sql.begin(async (tx) => {
      if ((await store.countCreatedBy(tx, actor.userId)) >= CREATED_MAX) {
        throw new Conflict(`you have made ${CREATED_MAX} organizations already: delete one first`);
      }
      await assertSession(tx, actor);
      const founder = { id: actor.userId, email: actor.email };
      return { ...(await foundOrganization(tx, founder, name, actor.ip)), role: 'owner' as const };
    });
  }

  /** Only the one that the session is in. */
  async get(actor: Actor, id: string): Promise<OrganizationSettings['org']> {
    const row = id === actor.orgId ? await store.loadOrganization(this.sql, id) : null;
    if (row === null) throw new NotFound('organization');
    return present(row, actor.role);
  }

  /** Only the one that the session is in. */
  async update(actor: Actor, id: string, patch: OrganizationPatch): Promise<OrganizationSettings['org']> {
    if (id !== actor.orgId) throw new NotFound('organization');
    return this.sql.begin(async (tx) => {
      const before = await store.lockSettings(tx, id);
      if (before === null) throw new NotFound('organization');
      const after = { ...before, ...patch };
      await store.updateOrganization(tx, id, after);
      const fields = Object.keys(patch) as (keyof OrganizationPatch)[];
      const changes = Object.fromEntries(fields.map((field) => [field, [before[field], after[field]] as const]));
      await recordAudit(tx, actor, 'organization.update', { type: 'organization', id }, changes);
      if (patch.budgetCentsMonthly !== undefined) await invalidate(tx, [{ kind: 'org', id }]);
      return present(after, actor.role);
    });
  }
}

const present = (
  { id, name, slug, budgetCentsMonthly, purgeAt }: store.OrganizationRow,
  role: Role,
): OrganizationSettings['org'] => ({
  id,
  name,
  slug,
  role,
  budgetCentsMonthly,
  ...(purgeAt === null ? {} : { purgeAt: purgeAt.toISOString() }),
});
