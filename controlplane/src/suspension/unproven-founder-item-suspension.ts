/**
 * Suspends everything that was created in an organization before its founder proved access to the mailbox of the
 * account. A suspended row is moved out of its table, so it has no effect. An owner keeps it, which moves it back, or
 * revokes it permanently.
 */
import { recordAudit } from '../audit/audit-trail.js';
import { isKeyViolation, type Sql, type Tx } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import type { SuspendableKind } from './suspendable-tables.js';
import type { SuspendedItem } from './suspended-item-schema.js';
import * as store from './suspended-row-move-store.js';

export interface SuspensionResult {
  readonly items: number;
  /** Organizations with at least one suspended item. */
  readonly orgIds: readonly string[];
  /** Of agents in other organizations that ended with it. */
  readonly endedAgents: readonly Invalidation[];
}

export const NOTHING_SUSPENDED: SuspensionResult = { items: 0, orgIds: [], endedAgents: [] };

/**
 * Suspends everything in those organizations except the founder's membership. The caller must revoke the founder's
 * sessions before, and call {@link invalidateSuspendedOrganizations} last in the transaction.
 */
export async function suspendItems(
  tx: Tx,
  founder: { readonly id: string; readonly email: string },
  organizationIds: readonly string[],
  ip: string,
): Promise<SuspensionResult> {
  let items = 0;
  const orgIds: string[] = [];
  for (const orgId of organizationIds) {
    const suspended = await store.suspendOrganizationRows(tx, orgId, founder.id);
    if (suspended === 0) continue;
    items += suspended;
    orgIds.push(orgId);
    const actor = { userId: founder.id, email: founder.email, orgId, ip };
    const target = { type: 'organization', id: orgId };
    await recordAudit(tx, actor, 'organization.suspend_items', target, { items: [0, suspended] });
  }
  return { items, orgIds, endedAgents: [] };
}

/** Makes all data planes drop the contexts of those organizations and agents, and end their calls. */
export const invalidateSuspendedOrganizations = (tx: Tx, { orgIds, endedAgents }: SuspensionResult): Promise<void> =>
  publishInvalidations(tx, [...orgIds.map((id) => ({ kind: 'org', id, endsSessions: true }) as const), ...endedAgents]);

export class SuspensionService {
  constructor(readonly sql: Sql) {}

  async list(actor: Actor, filter: { kind?: SuspendableKind }, page: Page): Promise<ListResult<SuspendedItem>> {
    const { rows, total } = await store.listSuspended(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  /** Restores the item. Throws {@link Conflict} when it conflicts with another row or what it belongs to is missing. */
  async keep(actor: Actor, id: string): Promise<SuspendedItem> {
    const { orgId } = actor;
    try {
      return await this.sql.begin(async (tx) => {
        const item = await store.restoreRow(tx, orgId, id);
        if (item === null) throw new NotFound('suspended item');
        if (item === false) {
          throw new Conflict(
            'the item has expired, or its creator is no longer a member: revoke it, or keep the member first',
          );
        }
        await recordAudit(tx, actor, 'suspended_item.keep', { type: item.kind, id }, { name: [null, item.name] });
        await publishInvalidations(tx, [{ kind: 'org', id: orgId }]);
        return present(item);
      });
    } catch (error) {
      if (!isKeyViolation(error)) throw error;
      throw new Conflict(
        'the item cannot be restored: its name is in use, or what it belongs to is suspended or deleted. ' +
          'Keep what it belongs to first, or revoke the item',
      );
    }
  }

  /** Deletes the item permanently. */
  async revoke(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const item = await store.deleteSuspendedRow(tx, actor.orgId, id);
      if (item === null) throw new NotFound('suspended item');
      await recordAudit(tx, actor, 'suspended_item.revoke', { type: item.kind, id }, { name: [item.name, null] });
    });
  }
}

const present = ({ id, kind, name, detail, createdAt, suspendedAt }: store.SuspendedRow): SuspendedItem => ({
  id,
  kind,
  name,
  detail,
  createdAt: createdAt.toISOString(),
  suspendedAt: suspendedAt.toISOString(),
});
