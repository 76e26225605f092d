/**
 * Management tokens: admins create them for programs. A token has at most the role `admin` and never more rights than
 * its creator. This class holds the rules and the transactions.
 */
import type { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import type { Static } from 'typebox';
import { recordAudit } from '../../audit/audit-trail.js';
import type { Sql } from '../../db/postgres-client.js';
import { Conflict, Forbidden, NotFound } from '../../domain/errors.js';
import type { ListResult, Page } from '../../http/limit-offset-pagination.js';
import { type Actor, isRoleAtLeast } from '../../http/route-access.js';
import { createSecretBytes } from '../../http/same-token-bytes-on-idempotent-retry.js';
import { parseExpiry } from '../../http/timestamp-params.js';
import { lockProjectAgainstDeletion } from '../../projects/store.js';
import { createManagementToken } from './management-token.js';
import type { ManagementToken, ManagementTokenInput } from './schema.js';
import * as store from './store.js';

const TOKENS_PER_ORG_MAX = 200;

export class ManagementTokenService {
  constructor(readonly sql: Sql) {}

  async list(actor: Actor, sorting: store.ManagementTokenSorting, page: Page): Promise<ListResult<ManagementToken>> {
    const { rows, total } = await store.listManagementTokens(this.sql, actor.orgId, sorting, page);
    return { rows: rows.map(presentManagementToken), total };
  }

  /** Returns the complete token, which is not stored and cannot be shown again. */
  async create(
    actor: Actor,
    input: Static<typeof ManagementTokenInput>,
  ): Promise<{ token: ManagementToken; secretToken: Secret }> {
    const { name, role, projectId = null } = input;
    const expiresAt = parseExpiry(input.expiresAt ?? null, Date.now());
    if (!isRoleAtLeast(actor.role, role))
      throw new Forbidden(`your role is ${actor.role}: you cannot create a token with the role ${role}`);
    const { secretToken, tokenPrefix, tokenHash } = createManagementToken(createSecretBytes());
    const id = uuidv7(Date.now());
    const { orgId } = actor;
    const row = await this.sql.begin(async (tx) => {
      if ((await store.lockAndCountManagementTokens(tx, orgId)) >= TOKENS_PER_ORG_MAX) {
        throw new Conflict(`the organization already has ${TOKENS_PER_ORG_MAX} management tokens: delete one first`);
      }
      if (projectId !== null && !(await lockProjectAgainstDeletion(tx, orgId, projectId)))
        throw new NotFound('project');
      const token = { id, orgId, projectId, name, role, tokenPrefix, tokenHash, createdBy: actor.userId, expiresAt };
      const inserted = await store.insertManagementToken(tx, token);
      await recordAudit(
        tx,
        actor,
        'management_token.create',
        { type: 'management_token', id },
        {
          name: [null, name],
          tokenPrefix: [null, tokenPrefix],
          role: [null, role],
          projectId: [null, projectId],
          expiresAt: [null, expiresAt?.toISOString() ?? null],
        },
      );
      return inserted;
    });
    return { token: presentManagementToken(row), secretToken };
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.deleteManagementToken(tx, actor.orgId, id);
      if (row === null) throw new NotFound('management token');
      const target = { type: 'management_token', id };
      await recordAudit(tx, actor, 'management_token.delete', target, { name: [row.name, null] });
    });
  }
}

const presentManagementToken = (row: store.ManagementTokenRow): ManagementToken => ({
  ...row,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
