/**
 * Trust rules: which tokens of another issuer a workload may exchange for a gateway key of one agent
 * (docs/contract.md#trust-rules). A change or deletion ends the keys of the rule, and the calls that they have running.
 */
import { checkTenantUrl } from '@acg/base/egress/check-tenant-url';
import { uuidv7 } from '@acg/base/uuidv7';
import type { AgentService } from '../agents/service.js';
import { type AuditChanges, recordAudit } from '../audit/audit-trail.js';
import type { JSONValue, Sql } from '../db/postgres-client.js';
import { InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import { ProviderFailure } from '../sso/issuer-requests.js';
import { type JwkSet, parseUploadedKeys } from '../sso/jwk-set.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { type ClaimCondition, findConditionProblem } from './claim-conditions.js';
import type { IssuerKeys } from './issuer-keys.js';
import type { TrustRule, TrustRuleInput, TrustRulePatch } from './schema.js';
import * as store from './store.js';

const RULES_MAX = 500;
const KEY_LIFETIME_DEFAULT_S = 900;
const SPIFFE_TRUST_DOMAIN = /^spiffe:\/\/[a-z0-9._-]{1,255}$/;

interface Dependencies {
  readonly sql: Sql;
  readonly agents: AgentService;
  readonly keys: IssuerKeys;
  readonly publicUrl: string;
  readonly allowCidrs: readonly string[];
  readonly resolveHost: (orgId: string) => Parameters<typeof checkTenantUrl>[1]['resolve'];
}

export class TrustRuleService {
  constructor(readonly dependencies: Dependencies) {}

  async list(actor: Actor, filter: store.TrustRuleFilter, page: Page): Promise<ListResult<TrustRule>> {
    const { sql, agents } = this.dependencies;
    if (filter.agentId !== null) await agents.get(actor, filter.agentId);
    if (filter.projectId !== null) await agents.list(actor, { projectId: filter.projectId }, { limit: 1, offset: 0 });
    const { rows, total } = await store.listRules(sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<TrustRule> {
    const row = await store.loadRule(this.dependencies.sql, actor.orgId, id);
    if (row === null) throw new NotFound('trust rule');
    return present(row);
  }

  /** Reads the issuer's keys first, so that a rule which can never work is not created. */
  async create(actor: Actor, input: TrustRuleInput): Promise<TrustRule> {
    const { sql, agents } = this.dependencies;
    const { orgId } = actor;
    const { name, issuer, conditions, keyLifetimeSeconds = KEY_LIFETIME_DEFAULT_S, jtiOnce = false } = input;
    assertConditions(issuer, conditions);
    await agents.get(actor, input.agentId);
    const jwks = input.jwks === undefined ? await this.#readKeys(orgId, issuer) : parseKeys(issuer, input.jwks);
    const id = uuidv7(Date.now());
    return sql.begin(async (tx) => {
      const { id: agentId, projectId } = await agents.lock(tx, orgId, input.agentId);
      // Tokens for one rule are worthless at all others.
      const audience = `${this.dependencies.publicUrl}/trust-rules/${id}`;
      const keysUploaded = input.jwks !== undefined;
      const rule = { id, orgId, projectId, agentId, name, issuer, audience, conditions, keyLifetimeSeconds, jtiOnce };
      const row = await store.insertRule(tx, { ...rule, keysUploaded, jwks, createdBy: actor.userId }, RULES_MAX);
      const { name: _, ...fields } = toAuditFields(row);
      const changes = { name, agentId, projectId, issuer, audience, keySource: keySourceOf(row), ...fields };
      await recordAudit(tx, actor, 'trust_rule.create', { type: 'trust_rule', id }, fromNothing(changes));
      return present(row);
    });
  }

  /** Every change but that of the name ends the keys of the rule. */
  async update(actor: Actor, id: string, { jwks: uploaded, ...patch }: TrustRulePatch): Promise<TrustRule> {
    return this.dependencies.sql.begin(async (tx) => {
      const before = await store.lockRule(tx, actor.orgId, id);
      if (before === null) throw new NotFound('trust rule');
      if (uploaded !== undefined && !before.keysUploaded)
        throw new InvalidInput('jwks: this rule reads the keys of its issuer. Create another rule to upload keys.');
      const jwks = uploaded === undefined ? null : parseKeys(before.issuer, uploaded);
      const after = { ...before, ...patch };
      assertConditions(before.issuer, after.conditions);
      const row = await store.updateRule(tx, id, after, jwks);
      const changes = auditChanges(before, row, jwks !== null);
      await recordAudit(tx, actor, 'trust_rule.update', { type: 'trust_rule', id }, changes);
      if (Object.keys(changes).some((field) => field !== 'name')) {
        await store.deleteKeysOfRule(tx, id);
        await publishInvalidations(tx, [{ kind: 'key', id, endsSessions: true }]);
      }
      return present(row);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.dependencies.sql.begin(async (tx) => {
      const row = await store.lockRule(tx, actor.orgId, id);
      if (row === null) throw new NotFound('trust rule');
      await recordAudit(tx, actor, 'trust_rule.delete', { type: 'trust_rule', id }, { name: [row.name, null] });
      await store.deleteRule(tx, id);
      await store.deleteKeysOfRule(tx, id);
      // Contexts of the rule's keys have its id as the id of their key.
      await publishInvalidations(tx, [{ kind: 'key', id, endsSessions: true }]);
    });
  }

  async #readKeys(orgId: string, issuer: string): Promise<JwkSet> {
    if (issuer.startsWith('spiffe://'))
      throw new InvalidInput('a rule for spiffe:// needs jwks: a trust domain has no discovery document');
    return runWithoutRequestSlot(async () => {
      const { allowCidrs, resolveHost, keys } = this.dependencies;
      const problem = await checkTenantUrl(issuer, { allowCidrs, httpsOnly: true, resolve: resolveHost(orgId) });
      if (problem !== null)
        throw new InvalidInput(`issuer ${problem}. For an issuer that the gateway cannot reach, upload jwks.`);
      try {
        return await keys.read(orgId, issuer);
      } catch (error) {
        if (!(error instanceof ProviderFailure)) throw error;
        throw new InvalidInput(`issuer: its keys cannot be read: ${error.message}`);
      }
    });
  }
}

function assertConditions(issuer: string, conditions: readonly ClaimCondition[]): void {
  const problem = findConditionProblem(issuer, conditions);
  if (problem !== null) throw new InvalidInput(problem);
}

function parseKeys(issuer: string, uploaded: unknown): JwkSet {
  if (issuer.startsWith('spiffe:') && !SPIFFE_TRUST_DOMAIN.test(issuer))
    throw new InvalidInput('issuer must be a trust domain without a path, like spiffe://prod.example.com');
  const keys = parseUploadedKeys(uploaded);
  if (typeof keys === 'string') throw new InvalidInput(keys);
  return keys;
}

const keySourceOf = ({ keysUploaded }: store.TrustRuleRow) => (keysUploaded ? 'upload' : 'discovery');

const toAuditFields = ({ name, conditions, keyLifetimeSeconds, jtiOnce }: store.TrustRuleRow) => ({
  name,
  conditions: conditions as unknown as JSONValue,
  keyLifetimeSeconds,
  jtiOnce,
});

const fromNothing = (fields: Readonly<Record<string, JSONValue>>): AuditChanges =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, [null, value] as const]));

function auditChanges(before: store.TrustRuleRow, after: store.TrustRuleRow, keysChanged: boolean): AuditChanges {
  const [old, new_] = [toAuditFields(before), toAuditFields(after)];
  const fields = (Object.keys(old) as (keyof typeof old)[]).filter(
    (field) => JSON.stringify(old[field]) !== JSON.stringify(new_[field]),
  );
  const changes = Object.fromEntries(fields.map((field) => [field, [old[field], new_[field]] as const]));
  return keysChanged ? { ...changes, jwks: ['[keys]', '[keys]'] } : changes;
}

const present = (row: store.TrustRuleRow): TrustRule => ({
  id: row.id,
  name: row.name,
  projectId: row.projectId,
  agentId: row.agentId,
  agentName: row.agentName,
  issuer: row.issuer,
  audience: row.audience,
  keySource: keySourceOf(row),
  conditions: row.conditions.map(({ claim, values }) => ({ claim, values: [...values] })),
  keyLifetimeSeconds: row.keyLifetimeSeconds,
  jtiOnce: row.jtiOnce,
  keysReadAt: row.keysReadAt?.toISOString() ?? null,
  keysFailure: row.keysFailure,
  lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
  rejectedAt: row.rejectedAt?.toISOString() ?? null,
  rejection: row.rejection,
  createdAt: row.createdAt.toISOString(),
});
