/** API keys: gateway tokens of agents, projects and the organization (docs/contract.md#gateway-tokens). */
import type { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import type { AgentService } from '../agents/service.js';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { LATEST_TIMESTAMP_MS, parseExpiry } from '../http/timestamp-params.js';
import { lockProjectAgainstDeletion } from '../projects/store.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { createGatewayToken } from './create-gateway-token.js';
import type { ApiKey, ApiKeyDetails, ApiKeyInput, ApiKeyPatch, KeyScope, RotationInput } from './schema.js';
import * as store from './store.js';

const ROTATION_GRACE_DEFAULT_S = 86_400;

interface ApiKeyOwner {
  readonly scope: KeyScope;
  readonly agentId: string | null;
  readonly projectId: string | null;
}

export class ApiKeyService {
  constructor(
    readonly sql: Sql,
    readonly agents: AgentService,
  ) {}

  async list(
    actor: Actor,
    filter: store.ApiKeyFilter,
    sorting: store.ApiKeySorting,
    page: Page,
  ): Promise<ListResult<ApiKey>> {
    if (filter.agentId !== null) await this.agents.get(actor, filter.agentId);
    if (filter.projectId !== null && !(await store.projectExists(this.sql, actor.orgId, filter.projectId))) {
      throw new NotFound('project');
    }
    const { rows, total } = await store.listKeys(this.sql, actor.orgId, filter, sorting, page);
    return { rows: rows.map(present), total };
  }

  /** Also a revoked key, because its calls stay in reports. Throws {@link NotFound}. */
  async get(actor: Actor, id: string): Promise<ApiKeyDetails> {
    const row = await store.loadKeyEvenRevoked(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound('API key');
    return { ...present(row), revokedAt: row.revokedAt?.toISOString() ?? null };
  }

  /** Returns the complete token, which is not stored and cannot be shown again. */
  async create(actor: Actor, input: ApiKeyInput): Promise<{ key: ApiKey; secretKey: Secret }> {
    return this.sql.begin((tx) => this.insert(tx, actor, input));
  }

  /** Creates a key in the caller's transaction. */
  async insert(tx: Tx, actor: Actor, input: ApiKeyInput): Promise<{ key: ApiKey; secretKey: Secret }> {
    const expiresAt = parseExpiry(input.expiresAt ?? null, Date.now());
    const { secretKey, keyPrefix, tokenHash } = createGatewayToken();
    const owner = await this.#lockOwner(tx, actor.orgId, input);
    const id = uuidv7(Date.now());
    const { orgId } = actor;
    const created = { id, orgId, name: input.name, keyPrefix, tokenHash, expiresAt, createdBy: actor.userId };
    const row = await store.insertKey(tx, { ...created, ...owner });
    await recordAudit(
      tx,
      actor,
      'api_key.create',
      { type: 'api_key', id },
      {
        name: [null, input.name],
        keyPrefix: [null, keyPrefix],
        scope: [null, owner.scope],
        agentId: [null, owner.agentId],
        projectId: [null, owner.projectId],
        expiresAt: [null, expiresAt?.toISOString() ?? null],
      },
    );
    return { key: present(row), secretKey };
  }

  async revoke(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.revokeKey(tx, actor.orgId, id);
      if (row === null) throw new NotFound('API key');
      await recordAudit(tx, actor, 'api_key.revoke', { type: 'api_key', id }, { name: [row.name, null] });
      await publishInvalidations(tx, [{ kind: 'key', id, endsSessions: true }]);
    });
  }

  /** Renames the key or changes its expiry. */
  async update(actor: Actor, id: string, patch: ApiKeyPatch): Promise<ApiKey> {
    const expiresAt = patch.expiresAt === undefined ? undefined : parseExpiry(patch.expiresAt, Date.now());
    return this.sql.begin(async (tx) => {
      const before = await lockActiveKey(tx, actor.orgId, id);
      if (expiresAt !== undefined && before.replacedBy !== null && !isEarlierExpiry(expiresAt, before.expiresAt)) {
        throw new Conflict('this key was replaced: its expiry can be moved earlier, but not later');
      }
      const updated = { ...before, name: patch.name ?? before.name, ...(expiresAt === undefined ? {} : { expiresAt }) };
      const row = await store.updateKey(tx, id, updated);
      await recordAudit(tx, actor, 'api_key.update', { type: 'api_key', id }, auditChanges(before, row));
      if (expiresAt !== undefined) await publishInvalidations(tx, [{ kind: 'key', id }]);
      return present(row);
    });
  }

  /** Creates a key of the same scope that replaces this one. The old key stays valid for `graceSeconds`. */
  async rotate(
    actor: Actor,
    id: string,
    { graceSeconds = ROTATION_GRACE_DEFAULT_S, expiresAt }: RotationInput,
  ): Promise<{ key: ApiKey; previous: ApiKey; secretKey: Secret }> {
    const { orgId } = actor;
    const nowMs = Date.now();
    const requestedExpiry = expiresAt === undefined ? undefined : parseExpiry(expiresAt, nowMs);
    const owner = await store.loadKey(this.sql, orgId, id);
    if (owner === null) throw new NotFound('API key');
    const { secretKey, keyPrefix, tokenHash } = createGatewayToken();
    const newId = uuidv7(nowMs);
    return this.sql.begin(async (tx) => {
      // Locks in the same order as a deletion.
      if (owner.agentId !== null) await this.agents.lock(tx, orgId, owner.agentId);
      else if (owner.projectId !== null) await lockProjectAgainstDeletion(tx, orgId, owner.projectId);
      const old = await lockActiveKey(tx, orgId, id);
      if (old.replacedBy !== null) throw new Conflict(`this key was already replaced by ${old.replacedBy}`);
      const { name, scope, agentId, projectId } = old;
      const newExpiry = requestedExpiry === undefined ? expiryWithSameLifetime(old, nowMs) : requestedExpiry;
      const createdBy = actor.userId;
      const newKey = {
        ...{ id: newId, orgId, name, keyPrefix, tokenHash, scope, agentId, projectId },
        ...{ expiresAt: newExpiry, createdBy },
      };
      const key = await store.insertKey(tx, newKey);
      const graceEnd = new Date(nowMs + graceSeconds * 1_000);
      const previousExpiry = isEarlierExpiry(graceEnd, old.expiresAt) ? graceEnd : old.expiresAt;
      const previous = await store.updateKey(tx, id, { name, expiresAt: previousExpiry, replacedBy: newId });
      if (graceSeconds === 0) await store.revokeKey(tx, orgId, id);
      await recordAudit(
        tx,
        actor,
        'api_key.rotate',
        { type: 'api_key', id },
        {
          ...auditChanges(old, previous),
          replacedBy: [null, newId],
          keyPrefix: [old.keyPrefix, keyPrefix],
        },
      );
      await publishInvalidations(tx, [{ kind: 'key', id, endsSessions: graceSeconds === 0 }]);
      return { key: present(key), previous: present(previous), secretKey };
    });
  }

  /**
   * Closes sessions that were opened with keys whose changed expiry has passed. Data planes know only the expiry at the
   * time the session was opened.
   */
  async expireRescheduledKeys(): Promise<void> {
    await this.sql.begin(async (tx) => {
      const ids = await store.claimExpiredRescheduledKeys(tx);
      await publishInvalidations(
        tx,
        ids.map((id) => ({ kind: 'key', id, endsSessions: true })),
      );
    });
  }

  async #lockOwner(tx: Tx, orgId: string, input: ApiKeyInput): Promise<ApiKeyOwner> {
    const { scope = 'agent', agentId, projectId } = input;
    if (scope === 'agent') {
      if (agentId === undefined) throw new InvalidInput('agentId is required for the scope agent');
      const agent = await this.agents.lock(tx, orgId, agentId);
      if (projectId !== undefined && projectId.toLowerCase() !== agent.projectId) {
        if (!(await lockProjectAgainstDeletion(tx, orgId, projectId))) throw new NotFound('project');
        throw new InvalidInput('projectId is not the project of that agent: leave it out');
      }
      return { scope, agentId: agent.id, projectId: agent.projectId };
    }
    if (agentId !== undefined) throw new InvalidInput(`agentId is not allowed with the scope ${scope}: leave it out`);
    if (scope === 'org') {
      if (projectId !== undefined) throw new InvalidInput('projectId is not allowed with the scope org: leave it out');
      return { scope, agentId: null, projectId: null };
    }
    if (projectId === undefined) throw new InvalidInput('projectId is required for the scope project');
    if (!(await lockProjectAgainstDeletion(tx, orgId, projectId))) throw new NotFound('project');
    return { scope, agentId: null, projectId };
  }
}

/** An expired key cannot be extended: data planes may have cached its token as unknown. */
async function lockActiveKey(tx: Tx, orgId: string, id: string): Promise<store.ApiKeyRow> {
  const row = await store.lockKey(tx, orgId, id);
  if (row === null) throw new NotFound('API key');
  if (row.status === 'expired') throw new Conflict('this key has expired: create a new one');
  return row;
}

/** Null: never expires. */
const isEarlierExpiry = (a: Date | null, b: Date | null): boolean => a !== null && (b === null || a < b);

function expiryWithSameLifetime({ expiresAt, createdAt }: store.ApiKeyRow, nowMs: number): Date | null {
  if (expiresAt === null) return null;
  return new Date(Math.min(LATEST_TIMESTAMP_MS, nowMs + (expiresAt.getTime() - createdAt.getTime())));
}

function auditChanges(before: store.ApiKeyRow, after: store.ApiKeyRow): AuditChanges {
  const toAuditFields = ({ name, expiresAt }: store.ApiKeyRow) => ({
    name,
    expiresAt: expiresAt?.toISOString() ?? null,
  });
  const [oldFields, newFields] = [toAuditFields(before), toAuditFields(after)];
  const fields = (['name', 'expiresAt'] as const).filter((field) => oldFields[field] !== newFields[field]);
  return Object.fromEntries(fields.map((field) => [field, [oldFields[field], newFields[field]] as const]));
}

const present = ({ revokedAt: _revokedAt, ...row }: store.ApiKeyRow): ApiKey => ({
  ...row,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
