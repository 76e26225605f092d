/**
 * Rotates credentials with overlap (docs/contract.md#rotation-with-overlap). Stores the new credential in addition to
 * the current one, tests it by a call of the gateway, then uses it. Keeps the previous one until no call uses it. Each
 * step is one transaction. If a control plane crashes, its transaction rolls back and another control plane retries.
 */
import type { Logger } from '@acg/base/log';
import { uuidv7 } from '@acg/base/uuidv7';
import type { AgentService } from '../agents/service.js';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { Conflict, NotFound } from '../domain/errors.js';
import { appendEvent } from '../events/append-events.js';
import type { Actor } from '../http/route-access.js';
import { forgetMinted } from '../minting/minted-credential-store.js';
import { accountCircuitKeys } from '../providers/build-upstream.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import { parseCredentials } from '../providers/catalogue/parse-credentials.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { reasonWithoutProbe } from '../providers/credential-probe.js';
import { type Invalidation, publishInvalidations } from '../watch/publish-invalidations.js';
import { decryptCredentials, encryptCredentials } from './credential-encryption.js';
import type { CredentialTester, FormerCredential } from './credential-tester.js';
import { KEEP_SECONDS_DEFAULT, type RotationAction } from './rotation-schema.js';
import * as store from './rotation-store.js';
import type { ProviderAccountService } from './service.js';
import { listStaleContexts, parseSharedCredentials } from './shared-credential-service.js';
import * as sharedStore from './shared-credential-store.js';
import * as accountStore from './store.js';
import { judgeTest } from './test-result.js';

const TESTS_PER_RUN = 20;
const TESTS_PER_ORG = 4;
const RETIRED_PER_RUN = 100;

type Fields = Readonly<Record<string, unknown>>;

interface LockedOwner {
  readonly providerSlug: string;
  readonly agentId: string | null;
  /** The stored credential. */
  readonly sealed: accountStore.EncryptedCredential;
}

interface LockedWithProvider extends LockedOwner {
  readonly provider: Provider;
}

export class RotationService {
  constructor(
    readonly sql: Sql,
    readonly accounts: ProviderAccountService,
    readonly agents: AgentService,
    readonly tests: CredentialTester,
    readonly log: Logger,
  ) {
    tests.formerCredentials = this;
  }

  /** Stores the new credential, which is tested within a second or two. Throws {@link Conflict} while one retires. */
  async start(
    actor: Actor,
    owner: store.RotationOwner,
    fields: Fields,
    keepSeconds = KEEP_SECONDS_DEFAULT,
  ): Promise<void> {
    const { orgId } = actor;
    const known = await this.#load(this.sql, owner);
    await this.accounts.assertAddressesAllowed(orgId, known.providerSlug, fields);
    await this.sql.begin(async (tx) => {
      const { provider } = await this.#lock(tx, owner, known);
      const parse = owner.kind === 'credential' ? parseSharedCredentials : parseAccountCredentials;
      const credentials = parse(provider, fields);
      assertTestable(provider, credentials);
      const before = await store.loadRotation(tx, owner);
      if (before?.state === 'retiring')
        throw new Conflict(
          'the previous credential of the last rotation is still kept: retire it, or roll back, first',
        );
      await store.deleteRotation(tx, owner);
      const id = uuidv7(Date.now());
      const next = this.accounts.vault.encrypt({ purpose: 'rotation', orgId, id }, JSON.stringify(credentials));
      await store.insertRotation(tx, id, owner, next, keepSeconds);
      const changes = { credentials: ['[secret]', '[secret]'], testFirst: [null, true] } as const;
      await recordAudit(tx, actor, `${owner.kind}.rotate`, { type: owner.kind, id: owner.id }, changes);
    });
  }

  /** Throws {@link Conflict} where the rotation has no such step now. */
  async act(actor: Actor, owner: store.RotationOwner, action: RotationAction): Promise<void> {
    const known = await this.#load(this.sql, owner);
    const rotation = await store.loadRotation(this.sql, owner);
    const needed =
      action === 'cancel' ? ['testing'] : action === 'compromised' ? ['testing', 'retiring'] : ['retiring'];
    if (rotation === null || !needed.includes(rotation.state)) throw wrongState(action, rotation);
    if (action === 'roll_back') await this.#assertFormerAccepted(owner);
    await this.sql.begin(async (tx) => {
      const usesCredential = action === 'roll_back' || (action === 'compromised' && rotation.state === 'testing');
      const withProvider = usesCredential ? await this.#lock(tx, owner, known) : null;
      const locked = withProvider ?? (await this.#lockOwner(tx, owner, known));
      const row = await store.lockRotation(tx, rotation.id, rotation.state);
      if (row === null) throw wrongState(action, await store.loadRotation(tx, owner));
      const after = action === 'cancel' ? 'cancelled' : action === 'roll_back' ? 'rolled_back' : 'retired';
      const changes = {
        rotation: [row.state, after],
        ...(action === 'compromised' ? { compromised: [false, true] as const } : {}),
      } as const;
      await recordAudit(tx, actor, `${owner.kind}.change_rotation`, { type: owner.kind, id: owner.id }, changes);
      if (action === 'cancel') await store.endRotation(tx, row.id, 'cancelled');
      else if (action === 'retire') await this.#retire(tx, owner, locked, row, false);
      else if (action === 'roll_back') {
        if (!(await this.#restoreFormer(tx, owner, withProvider!, row))) throw wrongState(action, null);
      } else if (row.state === 'retiring') await this.#retire(tx, owner, locked, row, true);
      else await this.#switchToNext(tx, owner, withProvider!, row, null, true);
    });
  }

  /** Tests what is due, and deletes previous credentials without calls in flight. Called every second by each control plane. */
  async runDue(): Promise<void> {
    const due = await store.claimDueTests(this.sql, { limit: TESTS_PER_RUN, perOrg: TESTS_PER_ORG });
    const outcomes = await Promise.allSettled(due.map((row) => this.#testNext(row)));
    // One after another, because they wait for the same locks. A failed one does not keep the others.
    for (const row of await store.listRetirable(this.sql, RETIRED_PER_RUN)) {
      const [outcome] = await Promise.allSettled([this.#retireUnused(row)]);
      outcomes.push(outcome);
    }
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Needs no provider: its file may have been removed. */
  async #retireUnused(row: store.RotationRow): Promise<void> {
    const owner = ownerOf(row);
    await this.sql.begin(async (tx) => {
      const locked = await tryLock(async () => this.#lockOwner(tx, owner, await this.#load(tx, owner)));
      const current = locked === null ? null : await store.lockRotation(tx, row.id, 'retiring');
      if (locked !== null && current !== null) await this.#retire(tx, owner, locked, current, false);
    });
  }

  async #testNext(row: store.RotationRow): Promise<void> {
    const owner = ownerOf(row);
    // Read while the provider is locked: a provider that moves to another host ends its rotations in that transaction.
    const target = await this.sql.begin(async (tx) => {
      const locked = await this.#tryLock(tx, owner);
      const current = locked === null ? null : await store.lockRotation(tx, row.id, 'testing');
      return locked === null || current === null
        ? null
        : { provider: locked.provider, agentId: locked.agentId, credentials: this.#open(current) };
    });
    if (target === null) return;
    const { provider, agentId, credentials } = target;
    const result = credentials === null ? null : await this.tests.probe(row.orgId, provider, credentials, agentId);
    const verdict = result === null ? 'rejected' : judgeTest(result);
    const outcome = {
      status: result?.status ?? null,
      problem: result === null ? 'The stored credential cannot be decrypted.' : this.tests.describe(result),
    };
    await this.sql.begin(async (tx) => {
      const locked = await this.#tryLock(tx, owner);
      const current = locked === null ? null : await store.lockRotation(tx, row.id, 'testing');
      if (locked === null || current === null) return;
      if (verdict === 'accepted') return this.#switchToNext(tx, owner, locked, current, outcome.status, false);
      if (verdict === 'unknown' && !current.startedLongAgo) return store.postponeTest(tx, row.id, outcome);
      await store.endRotation(tx, row.id, 'rejected', outcome);
      this.log.info({ ...logged(owner), status: outcome.status }, 'new credential rejected');
      await appendEvent(tx, row.orgId, 'credential.rotation_failed', eventData(owner, locked));
    });
  }

  /** New calls carry the new credential from now on. */
  async #switchToNext(
    tx: Tx,
    owner: store.RotationOwner,
    locked: LockedWithProvider,
    row: store.RotationRow,
    status: number | null,
    compromised: boolean,
  ): Promise<void> {
    const next = this.#open(row);
    if (next === null) throw new Conflict('the new credential cannot be decrypted: cancel the rotation');
    const former = compromised ? null : this.#sealFormer(owner, locked, row.id);
    // First, because replacing the credential of the owner cancels a rotation that is still testing.
    await store.switchToNewCredential(tx, row.id, former, status, compromised);
    await this.#replace(tx, owner, locked.provider, next);
    await this.#publish(tx, owner, locked, 'credential.rotated', compromised);
  }

  /** Null: the provider has rejected it already, or it was stored for another host. */
  #sealFormer({ orgId }: store.RotationOwner, { sealed }: LockedOwner, id: string) {
    const { vault } = this.accounts;
    const former = sealed.isActive ? decryptCredentials(vault, this.log, orgId, sealed) : null;
    return former === null ? null : vault.encrypt({ purpose: 'rotation', orgId, id }, JSON.stringify(former));
  }

  /** Deletes the previous credential. */
  async #retire(
    tx: Tx,
    owner: store.RotationOwner,
    locked: LockedOwner,
    row: store.RotationRow,
    compromised: boolean,
  ): Promise<void> {
    await store.endRotation(tx, row.id, 'retired', { compromised });
    await this.#publish(tx, owner, locked, 'credential.retired', compromised);
  }

  /**
   * Restores the previous credential: the provider rejects the current one and accepts the previous one. Returns false
   * if the credential has been replaced since `nonce` (base64) was read, or the previous one is not kept any more.
   */
  restore(owner: store.RotationOwner, nonce: string): Promise<boolean> {
    return this.sql.begin(async (tx) => {
      const locked = await this.#tryLock(tx, owner);
      if (locked === null || locked.sealed.nonce !== nonce) return false;
      const known = await store.loadRotation(tx, owner);
      const row = known === null ? null : await store.lockRotation(tx, known.id, 'retiring');
      return row !== null && this.#restoreFormer(tx, owner, locked, row);
    });
  }

  async #restoreFormer(
    tx: Tx,
    owner: store.RotationOwner,
    locked: LockedWithProvider,
    row: store.RotationRow,
  ): Promise<boolean> {
    const former = row.isOwnersPresent ? this.#open(row) : null;
    if (former === null) return false;
    await this.#replace(tx, owner, locked.provider, former);
    await store.endRotation(tx, row.id, 'rolled_back');
    await this.#publish(tx, owner, locked, 'credential.rolled_back', false);
    return true;
  }

  /**
   * Read while the provider is locked: a provider that moves to another host ends its rotations in that transaction, so
   * the former credential is tested only at the host for which it was stored.
   */
  async loadFormer(owner: store.RotationOwner): Promise<FormerCredential | null> {
    const former = await this.sql.begin(async (tx): Promise<FormerCredential | null> => {
      const locked = await this.#tryLock(tx, owner);
      const row = locked === null ? null : await store.loadRotation(tx, owner);
      const credentials = row?.state === 'retiring' && row.isOwnersPresent ? this.#open(row) : null;
      return locked === null || credentials === null ? null : { ...locked, credentials };
    });
    return former as FormerCredential | null;
  }

  async #assertFormerAccepted(owner: store.RotationOwner): Promise<void> {
    const former = await this.loadFormer(owner);
    if (former === null) throw wrongState('roll_back', null);
    const result = await this.tests.probe(owner.orgId, former.provider, former.credentials, former.agentId);
    const verdict = judgeTest(result);
    if (verdict === 'accepted') return;
    const problem = this.tests.describe(result) ?? '';
    throw new Conflict(
      verdict === 'rejected'
        ? `the previous credential stays out of use. ${problem}`
        : `the previous credential could not be tested, so it stays out of use: try again. ${problem}`,
    );
  }

  #open({ id, orgId, keyId, nonce, ciphertext }: store.RotationRow): Credentials | null {
    if (keyId === null || nonce === null || ciphertext === null) return null;
    try {
      return JSON.parse(this.accounts.vault.decrypt({ purpose: 'rotation', orgId, id }, { keyId, nonce, ciphertext }));
    } catch (error) {
      this.log.error({ rotationId: id, orgId, err: error }, 'credential of a rotation cannot be decrypted');
      return null;
    }
  }

  async #replace(tx: Tx, owner: store.RotationOwner, provider: Provider, credentials: Credentials): Promise<void> {
    const { kind, orgId, id } = owner;
    const sealed = encryptCredentials(this.accounts.vault, { purpose: kind, orgId, id }, credentials);
    const keys = accountCircuitKeys(provider, credentials);
    const method = provider.method(credentials);
    await forgetMinted(tx, kind === 'account' ? 'account_id' : 'credential_id', id);
    if (kind === 'account') await accountStore.replaceCredentials(tx, orgId, id, sealed, keys, method);
    else await sharedStore.replaceSharedCredential(tx, id, sealed, keys, method);
  }

  async #publish(
    tx: Tx,
    owner: store.RotationOwner,
    locked: LockedOwner,
    event: 'credential.rotated' | 'credential.retired' | 'credential.rolled_back',
    compromised: boolean,
  ): Promise<void> {
    this.log.info({ ...logged(owner), compromised }, event.replace('.', ' '));
    await appendEvent(tx, owner.orgId, event, { ...eventData(owner, locked), compromised });
    const { kind, orgId, id } = owner;
    const stale: readonly Invalidation[] =
      kind === 'account' ? [{ kind: 'agent', id: locked.agentId! }] : await listStaleContexts(tx, orgId, id);
    await publishInvalidations(tx, compromised ? await store.endFormerCalls(tx, owner, stale) : stale);
  }

  async #load(sql: Sql | Tx, { kind, orgId, id }: store.RotationOwner): Promise<accountStore.EncryptedCredential> {
    const row =
      kind === 'account'
        ? await accountStore.loadEncryptedCredential(sql, orgId, id)
        : await accountStore.loadEncryptedSharedCredential(sql, orgId, id);
    if (row === null) throw new NotFound(kind === 'account' ? 'provider account' : 'credential');
    if (kind === 'account' && row.credentialId !== null)
      throw new Conflict(`this account uses the shared credential ${row.credentialId}: rotate the shared credential`);
    return row;
  }

  /** Locks agent, provider and owner, in this order, like every other change of a credential. */
  async #lock(
    tx: Tx,
    owner: store.RotationOwner,
    known: accountStore.EncryptedCredential,
  ): Promise<LockedWithProvider> {
    if (known.agentId !== null) await this.agents.lock(tx, owner.orgId, known.agentId);
    const { provider } = await this.accounts.lockProvider(tx, owner.orgId, known.providerSlug);
    return { provider, ...(await this.#lockOwner(tx, owner, known)) };
  }

  async #lockOwner(tx: Tx, owner: store.RotationOwner, known: accountStore.EncryptedCredential): Promise<LockedOwner> {
    const { kind, orgId, id } = owner;
    if (known.agentId !== null) await this.agents.lock(tx, orgId, known.agentId);
    if (kind === 'account') await accountStore.lockAccount(tx, orgId, id);
    else await sharedStore.lockSharedCredential(tx, orgId, id, 'update');
    const { providerSlug, agentId } = known;
    return { providerSlug, agentId, sealed: await this.#load(tx, owner) };
  }

  /** Null: the owner, its agent or its provider has been deleted. */
  #tryLock(tx: Tx, owner: store.RotationOwner): Promise<LockedWithProvider | null> {
    return tryLock(async () => this.#lock(tx, owner, await this.#load(tx, owner)));
  }
}

async function tryLock<T>(lock: () => Promise<T>): Promise<T | null> {
  try {
    return await lock();
  } catch (error) {
    if (error instanceof NotFound || error instanceof Conflict) return null;
    throw error;
  }
}

const parseAccountCredentials = (provider: Provider, fields: Fields): Credentials =>
  parseCredentials(provider.rules, fields);

function assertTestable(provider: Provider, credentials: Credentials): void {
  const method = provider.method(credentials);
  if (method?.kind === 'oauth2_authorization_code')
    throw new Conflict('a connected account has no key to rotate: connect it again');
  const reason = method === null ? reasonWithoutProbe(provider) : null;
  if (reason !== null) throw new Conflict(`this credential cannot be tested: ${reason} Rotate it without testFirst.`);
}

const ownerOf = ({ orgId, accountId, credentialId }: store.RotationRow): store.RotationOwner =>
  accountId === null ? { kind: 'credential', orgId, id: credentialId! } : { kind: 'account', orgId, id: accountId };

const logged = ({ kind, orgId, id }: store.RotationOwner) => ({ orgId, [`${kind}Id`]: id });

const eventData = ({ kind, orgId, id }: store.RotationOwner, { providerSlug, agentId }: LockedOwner) => ({
  providerSlug,
  accountId: kind === 'account' ? id : null,
  credentialId: kind === 'credential' ? id : null,
  agentId,
  orgId,
});

function wrongState(action: RotationAction, row: store.RotationRow | null): Conflict {
  if (row === null || !['testing', 'retiring'].includes(row.state))
    return new Conflict('no rotation is under way, or it has no previous credential that may be used');
  return new Conflict(
    row.state === 'testing'
      ? `the new credential is being tested, so there is nothing to ${action === 'roll_back' ? 'roll back' : action}: cancel the rotation instead`
      : 'the new credential is in use already: roll back, or retire the previous one',
  );
}
