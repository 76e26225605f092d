/**
 * Credentials that many agents' accounts share: stored once, rotated once. Only agents of its project may use one that
 * has a project, and one that is in use cannot be deleted.
 */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/trail.js';
import type { Sql, Tx } from '../db/sql.js';
import { Conflict, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/access.js';
import type { Listed, Page } from '../http/pagination.js';
import { parseCredentials } from '../providers/catalogue/credentials.js';
import { credentialFieldsOf, sharedCircuitOf } from '../providers/upstream-of.js';
import { type Change, invalidate } from '../watch/invalidate.js';
import { sealCredentials } from './credentials.js';
import type { AccountService } from './service.js';
import type { SharedCredential, SharedCredentialInput } from './shared-schema.js';
import * as store from './shared-store.js';

const SHARED_MAX = 1_000;
const WHAT = 'credential';
const target = (id: string) => ({ type: WHAT, id });

export class SharedCredentials {
  constructor(
    readonly sql: Sql,
    readonly accounts: AccountService,
  ) {}

  async list(actor: Actor, filter: store.SharedFilter, page: Page): Promise<Listed<SharedCredential>> {
    if (filter.projectId !== null) {
      const { projectId } = filter;
      const known = await this.sql.begin((tx) => store.holdProject(tx, actor.orgId, projectId));
      if (!known) throw new NotFound('project');
    }
    const { rows, total } = await store.listShared(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<SharedCredential> {
    const row = await store.loadShared(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound(WHAT);
    return present(row);
  }

  async create(actor: Actor, input: SharedCredentialInput): Promise<SharedCredential> {
    const { orgId } = actor;
    const { name, providerSlug, projectId = null } = input;
    await this.accounts.checkAddresses(orgId, providerSlug, input.credentials);
    return this.sql.begin(async (tx) => {
      if ((await store.countShared(tx, orgId)) >= SHARED_MAX) {
        throw new Conflict(`the organization already has ${SHARED_MAX} shared credentials: delete one first`);
      }
      if (projectId !== null && !(await store.holdProject(tx, orgId, projectId))) throw new NotFound('project');
      const { assignable, customProviderId } = await this.accounts.hold(tx, orgId, providerSlug);
      const credentials = parseCredentials(credentialFieldsOf(assignable), input.credentials);
      const id = uuidv7(Date.now());
      const sealed = sealCredentials(this.accounts.vault, { purpose: WHAT, orgId, id }, credentials);
      const circuitKey = sharedCircuitOf(assignable, credentials);
      const one = { id, orgId, projectId, name, providerSlug, customProviderId, sealed, circuitKey };
      const row = await store.insertShared(tx, one);
      const changes = { name: [null, name], providerSlug: [null, providerSlug], projectId: [null, projectId] } as const;
      await recordAudit(tx, actor, 'credential.create', target(id), changes);
      return present(row);
    });
  }

  async rename(actor: Actor, id: string, name: string): Promise<SharedCredential> {
    return this.sql.begin(async (tx) => {
      const before = await store.lockShared(tx, actor.orgId, id, 'update');
      if (before === null) throw new NotFound(WHAT);
      await recordAudit(tx, actor, 'credential.update', target(id), { name: [before.name, name] });
      return present(await store.renameShared(tx, id, name));
    });
  }

  /** For all its accounts at once; calls under way finish with the old one. */
  async rotate(actor: Actor, id: string, given: Readonly<Record<string, unknown>>): Promise<SharedCredential> {
    const { orgId } = actor;
    const before = await store.loadShared(this.sql, orgId, id);
    if (before === null) throw new NotFound(WHAT);
    await this.accounts.checkAddresses(orgId, before.providerSlug, given);
    return this.sql.begin(async (tx) => {
      const { assignable } = await this.accounts.hold(tx, orgId, before.providerSlug);
      if ((await store.lockShared(tx, orgId, id, 'update')) === null) throw new NotFound(WHAT);
      const credentials = parseCredentials(credentialFieldsOf(assignable), given);
      const sealed = sealCredentials(this.accounts.vault, { purpose: WHAT, orgId, id }, credentials);
      const row = await store.replaceShared(tx, id, sealed, sharedCircuitOf(assignable, credentials));
      const changes = { credentials: ['[secret]', '[secret]'], accounts: [row.accounts, row.accounts] } as const;
      await recordAudit(tx, actor, 'credential.rotate', target(id), changes);
      await invalidate(tx, await contextsOn(tx, orgId, id));
      return present(row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const before = await store.lockShared(tx, actor.orgId, id, 'update');
      if (before === null) throw new NotFound(WHAT);
      if (before.accounts > 0) {
        const users = before.accounts === 1 ? 'an account uses' : `${before.accounts} accounts use`;
        throw new Conflict(`${users} this credential: delete them first`);
      }
      await store.deleteShared(tx, id);
      await recordAudit(tx, actor, 'credential.delete', target(id), { name: [before.name, null] });
    });
  }
}

/** What data planes have to forget when a shared credential changes. */
export async function contextsOn(tx: Tx, orgId: string, id: string): Promise<readonly Change[]> {
  const agents = await store.agentsOn(tx, id);
  return agents === null ? [{ kind: 'org', id: orgId }] : agents.map((agent) => ({ kind: 'agent', id: agent }));
}

const present = (row: store.SharedRow): SharedCredential => ({
  ...row,
  createdAt: row.createdAt.toISOString(),
  rotatedAt: row.rotatedAt?.toISOString() ?? null,
});
