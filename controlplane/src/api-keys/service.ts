/** API keys: gateway tokens of agents, projects and the organization (docs/contract.md#gateway-tokens). */
import type { Secret } from '@acg/base/secret';
import { uuidv7 } from '@acg/base/uuidv7';
import type { AgentService } from '../agents/service.js';
import { recordAudit } from '../audit/trail.js';
import type { Sql, Tx } from '../db/sql.js';
import { InvalidInput, NotFound } from '../domain/errors.js';
import type { Actor } from '../http/access.js';
import type { Listed, Page } from '../http/pagination.js';
import { invalidate } from '../watch/invalidate.js';
import { newGatewayToken } from './gateway-token.js';
import type { ApiKey, ApiKeyInput, KeyScope } from './schema.js';
import * as store from './store.js';

interface KeyOwner {
  readonly scope: KeyScope;
  readonly agentId: string | null;
  readonly projectId: string | null;
}

export class ApiKeyService {
  constructor(
    readonly sql: Sql,
    readonly agents: AgentService,
  ) {}

  async list(actor: Actor, filter: store.ApiKeyFilter, page: Page): Promise<Listed<ApiKey>> {
    if (filter.agentId !== null) await this.agents.get(actor, filter.agentId);
    if (filter.projectId !== null && !(await store.ownsProject(this.sql, actor.orgId, filter.projectId))) {
      throw new NotFound('project');
    }
    const { rows, total } = await store.listLiveKeys(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  /** The only time that the token is shown. */
  async create(actor: Actor, input: ApiKeyInput): Promise<{ key: ApiKey; secretKey: Secret }> {
    const expiresAt = parseExpiry(input.expiresAt ?? null, Date.now());
    const { secretKey, keyPrefix, tokenHash } = newGatewayToken();
    const key = await this.sql.begin(async (tx) => {
      const owner = await this.#ownerOf(tx, actor.orgId, input);
      const id = uuidv7(Date.now());
      const { orgId } = actor;
      const row = await store.insertKey(tx, { id, orgId, name: input.name, keyPrefix, tokenHash, expiresAt, ...owner });
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
      return present(row);
    });
    return { key, secretKey };
  }

  async revoke(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.revokeKey(tx, actor.orgId, id);
      if (row === null) throw new NotFound('API key');
      await recordAudit(tx, actor, 'api_key.revoke', { type: 'api_key', id }, { name: [row.name, null] });
      await invalidate(tx, [{ kind: 'key', id, endsSessions: true }]);
    });
  }

  async #ownerOf(tx: Tx, orgId: string, input: ApiKeyInput): Promise<KeyOwner> {
    const { scope = 'agent', agentId, projectId } = input;
    if (scope === 'agent') {
      if (agentId === undefined) throw new InvalidInput('agentId is required for the scope agent');
      const agent = await this.agents.lock(tx, orgId, agentId);
      if (projectId !== undefined && projectId.toLowerCase() !== agent.projectId) {
        if (!(await store.holdProject(tx, orgId, projectId))) throw new NotFound('project');
        throw new InvalidInput('projectId is not the project of that agent: leave it out');
      }
      return { scope, agentId: agent.id, projectId: agent.projectId };
    }
    if (agentId !== undefined) throw new InvalidInput(`agentId does not go with the scope ${scope}: leave it out`);
    if (scope === 'org') {
      if (projectId !== undefined) throw new InvalidInput('projectId does not go with the scope org: leave it out');
      return { scope, agentId: null, projectId: null };
    }
    if (projectId === undefined) throw new InvalidInput('projectId is required for the scope project');
    if (!(await store.holdProject(tx, orgId, projectId))) throw new NotFound('project');
    return { scope, agentId: null, projectId };
  }
}

function parseExpiry(text: string | null, nowMs: number): Date | null {
  if (text === null) return null;
  const at = new Date(text);
  if (!(at.getTime() > nowMs)) throw new InvalidInput('expiresAt must be in the future');
  return at;
}

const present = (row: store.ApiKeyRow): ApiKey => ({
  ...row,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  expiresAt: row.expiresAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
});
