/**
 * Credentials that the accounts of many agents share: stored once, rotated once. A credential with a project can be
 * used only by agents of that project. A credential in use cannot be deleted.
 */
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import type { Actor } from '../http/route-access.js';
import { forgetMinted } from '../minting/minted-credential-store.js';
import { presentMinted } from '../minting/present-minted.js';
import { lockProjectAgainstDeletion } from '../projects/store.js';
import { accountCircuitKeys } from '../providers/build-upstream.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import { isSignedByGateway } from '../providers/catalogue/mint-method.js';
import { parseCredentials } from '../providers/catalogue/parse-credentials.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import { encryptCredentials } from './credential-encryption.js';
import { deleteRotation, endFormerCalls, presentRotation } from './rotation-store.js';
import type { ProviderAccountService } from './service.js';
import type { SharedCredential, SharedCredentialInput } from './shared-credential-schema.js';
import * as store from './shared-credential-store.js';

const CREDENTIALS_PER_ORG_MAX = 1_000;
const TARGET_TYPE = 'credential';
const auditTarget = (id: string) => ({ type: TARGET_TYPE, id });

export class SharedCredentialService {
  constructor(
    readonly sql: Sql,
    readonly accounts: ProviderAccountService,
  ) {}

  async list(actor: Actor, filter: store.SharedCredentialFilter, page: Page): Promise<ListResult<SharedCredential>> {
    if (filter.projectId !== null) {
      const { projectId } = filter;
      const known = await this.sql.begin((tx) => lockProjectAgainstDeletion(tx, actor.orgId, projectId));
      if (!known) throw new NotFound('project');
    }
    const { rows, total } = await store.listSharedCredentials(this.sql, actor.orgId, filter, page);
    return { rows: rows.map(present), total };
  }

  async get(actor: Actor, id: string): Promise<SharedCredential> {
    const row = await store.loadSharedCredential(this.sql, actor.orgId, id);
    if (row === null) throw new NotFound(TARGET_TYPE);
    return present(row);
  }

  async create(actor: Actor, input: SharedCredentialInput): Promise<SharedCredential> {
    const { orgId } = actor;
    const { name, providerSlug, projectId = null } = input;
    await this.accounts.assertAddressesAllowed(orgId, providerSlug, input.credentials);
    return this.sql.begin(async (tx) => {
      if ((await store.lockAndCountSharedCredentials(tx, orgId)) >= CREDENTIALS_PER_ORG_MAX) {
        throw new Conflict(
          `the organization already has ${CREDENTIALS_PER_ORG_MAX} shared credentials: delete one first`,
        );
      }
      if (projectId !== null && !(await lockProjectAgainstDeletion(tx, orgId, projectId)))
        throw new NotFound('project');
      const { provider, customProviderId } = await this.accounts.lockProvider(tx, orgId, providerSlug);
      const credentials = parseSharedCredentials(provider, input.credentials);
      const id = uuidv7(Date.now());
      const sealed = encryptCredentials(this.accounts.vault, { purpose: TARGET_TYPE, orgId, id }, credentials);
      const circuitKeys = accountCircuitKeys(provider, credentials);
      const method = provider.method(credentials);
      const newCredential = { id, orgId, projectId, name, providerSlug, customProviderId, sealed, circuitKeys, method };
      const row = await store.insertSharedCredential(tx, newCredential);
      const changes = { name: [null, name], providerSlug: [null, providerSlug], projectId: [null, projectId] } as const;
      await recordAudit(tx, actor, 'credential.create', auditTarget(id), changes);
      return present(row);
    });
  }

  async rename(actor: Actor, id: string, name: string): Promise<SharedCredential> {
    return this.sql.begin(async (tx) => {
      const before = await store.lockSharedCredential(tx, actor.orgId, id, 'update');
      if (before === null) throw new NotFound(TARGET_TYPE);
      await recordAudit(tx, actor, 'credential.update', auditTarget(id), { name: [before.name, name] });
      return present(await store.renameSharedCredential(tx, id, name));
    });
  }

  /**
   * Replaces the credential for all its accounts at once. Calls in flight finish with the previous one, unless it is
   * compromised.
   */
  async rotate(
    actor: Actor,
    id: string,
    fields: Readonly<Record<string, unknown>>,
    compromised: boolean,
  ): Promise<void> {
    const { orgId } = actor;
    const before = await store.loadSharedCredential(this.sql, orgId, id);
    if (before === null) throw new NotFound(TARGET_TYPE);
    await this.accounts.assertAddressesAllowed(orgId, before.providerSlug, fields);
    await this.sql.begin(async (tx) => {
      const { provider } = await this.accounts.lockProvider(tx, orgId, before.providerSlug);
      if ((await store.lockSharedCredential(tx, orgId, id, 'update')) === null) throw new NotFound(TARGET_TYPE);
      const credentials = parseSharedCredentials(provider, fields);
      const sealed = encryptCredentials(this.accounts.vault, { purpose: TARGET_TYPE, orgId, id }, credentials);
      await forgetMinted(tx, 'credential_id', id);
      await deleteRotation(tx, { kind: TARGET_TYPE, id });
      const row = await store.replaceSharedCredential(
        tx,
        id,
        sealed,
        accountCircuitKeys(provider, credentials),
        provider.method(credentials),
      );
      const changes = {
        credentials: ['[secret]', '[secret]'],
        accounts: [row.accounts, row.accounts],
        ...(compromised ? { compromised: [null, true] as const } : {}),
      } as const;
      await recordAudit(tx, actor, 'credential.rotate', auditTarget(id), changes);
      const stale = await listStaleContexts(tx, orgId, id);
      await publishInvalidations(tx, compromised ? await endFormerCalls(tx, { kind: TARGET_TYPE, id }, stale) : stale);
    });
  }

  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const before = await store.lockSharedCredential(tx, actor.orgId, id, 'update');
      if (before === null) throw new NotFound(TARGET_TYPE);
      if (before.accounts > 0) {
        const users = before.accounts === 1 ? 'an account uses' : `${before.accounts} accounts use`;
        throw new Conflict(`${users} this credential: delete these accounts first`);
      }
      await store.deleteSharedCredential(tx, id);
      await recordAudit(tx, actor, 'credential.delete', auditTarget(id), { name: [before.name, null] });
    });
  }
}

/** The contexts that data planes must drop when a shared credential changes. */
export async function listStaleContexts(tx: Tx, orgId: string, id: string): Promise<readonly Invalidation[]> {
  const agents = await store.listAgentsUsing(tx, id);
  return agents === null ? [{ kind: 'org', id: orgId }] : agents.map((agent) => ({ kind: 'agent', id: agent }));
}

const present = ({
  method,
  mintKind,
  mintedRow,
  rotationRow,
  ...row
}: store.SharedCredentialRow): SharedCredential => ({
  ...row,
  minted: presentMinted({ method, mintKind, mintedRow }),
  rotation: presentRotation({ rotationRow }),
  createdAt: row.createdAt.toISOString(),
  rotatedAt: row.rotatedAt?.toISOString() ?? null,
});

/** A token of the gateway names one agent, so accounts without a secret are not shared. */
export function parseSharedCredentials(provider: Provider, fields: Readonly<Record<string, unknown>>): Credentials {
  const credentials = parseCredentials(provider.rules, fields);
  const method = provider.method(credentials);
  if (method !== null && isSignedByGateway(method))
    throw new InvalidInput(`method ${method.name} names one agent: create an account of the agent instead`);
  return credentials;
}
