/** SCIM tokens of an organization. Only owners create and delete them, because a token admits and removes people. */
import type { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import { assertConfirmed } from '../auth/second-factor/confirmation.js';
import type { Sql } from '../db/postgres-client.js';
import { NotFound } from '../domain/errors.js';
import type { Actor } from '../http/route-access.js';
import { createSecretBytes } from '../http/same-token-bytes-on-idempotent-retry.js';
import type { ScimSettings, ScimToken } from './schema.js';
import { createScimToken } from './scim-token.js';
import * as store from './token-store.js';

export class ScimSettingsService {
  constructor(
    readonly sql: Sql,
    readonly baseUrl: string,
  ) {}

  async get({ orgId }: Actor): Promise<ScimSettings> {
    const tokens = await store.listTokens(this.sql, orgId);
    const counts = await store.countProvisioned(this.sql, orgId);
    return { baseUrl: this.baseUrl, tokens: tokens.map(presentToken), ...counts };
  }

  /** Returns the complete token, which is not stored and cannot be shown again. */
  async createToken(actor: Actor, name: string): Promise<{ token: ScimToken; secretToken: Secret }> {
    const { secretToken, tokenPrefix, tokenHash } = createScimToken(createSecretBytes());
    const id = uuidv7(Date.now());
    const row = await this.sql.begin(async (tx) => {
      await assertConfirmed(tx, actor);
      const token = { id, orgId: actor.orgId, name, tokenPrefix, tokenHash, createdBy: actor.userId };
      const inserted = await store.insertToken(tx, token);
      const changes = { name: [null, name], tokenPrefix: [null, tokenPrefix] } as const;
      await recordAudit(tx, actor, 'scim_token.create', { type: 'scim_token', id }, changes);
      return inserted;
    });
    return { token: presentToken(row as store.ScimTokenRow), secretToken };
  }

  /** The directory's requests are rejected at once. What it has created stays. */
  async deleteToken(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.deleteToken(tx, actor.orgId, id);
      if (row === null) throw new NotFound('SCIM token');
      await recordAudit(tx, actor, 'scim_token.delete', { type: 'scim_token', id }, { name: [row.name, null] });
    });
  }
}

const presentToken = (row: store.ScimTokenRow): ScimToken => ({
  ...row,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
