/**
 * Tests whether providers accept the credentials of accounts: on request, and after agents' calls got 401 or 403. Only
 * the response to the gateway's own probe counts, because an agent can provoke such responses to its calls. A rejected
 * credential disables its account. It is retested every hour and enabled again when the provider accepts it.
 */

import type { Dialer } from '@acg/base/dialer/dialer';
import { createUndiciConnector } from '@acg/base/dialer/undici-connector';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import type { Logger } from '@acg/base/log';
import { Agent } from 'undici';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql, Tx } from '../db/postgres-client.js';
import { createQueueFullError, NotFound, TooManyAttempts } from '../domain/errors.js';
import { appendEvent } from '../events/append-events.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import type { BookedUsage, UsageObserver } from '../ledger/usage-ingest.js';
import { mergeMinted } from '../minting/exchange.js';
import { MINT_FAILURES, MintFailure } from '../minting/mint-failure.js';
import type { MintService } from '../minting/mint-service.js';
import type { Credentials } from '../providers/catalogue/credential-template.js';
import { isSignedByGateway } from '../providers/catalogue/mint-method.js';
import type { Provider } from '../providers/catalogue/provider.js';
import { type ProbeResult, probeCredential, reasonWithoutProbe } from '../providers/credential-probe.js';
import { publishInvalidations } from '../watch/publish-invalidations.js';
import { decryptCredentials } from './credential-encryption.js';
import { RetestQueue } from './retest-queue.js';
import type { RotationOwner } from './rotation-store.js';
import type { TestInput, TestReply } from './schema.js';
import type { ProviderAccountService } from './service.js';
import { listStaleContexts } from './shared-credential-service.js';
import * as store from './store.js';
import { judgeTest, type TestResult } from './test-result.js';

/** Concurrent tests in this process. A tenant's custom provider may keep each of them waiting. */
const RUNNING_TESTS_MAX = 8;
const WAITING_TESTS_MAX = 64;
const RETEST_AFTER_MS = 3_600_000;
const RETESTS_PER_RUN = 20;
/** As many as one organization may run at once, so a run with hanging providers takes no longer than a single probe. */
const RETESTS_PER_ORG = RUNNING_TESTS_MAX / 2;

export class CredentialTester implements UsageObserver {
  readonly #semaphore = new FairSemaphore({
    runningMax: RUNNING_TESTS_MAX,
    waitingMax: WAITING_TESTS_MAX,
    createError: () => createQueueFullError('tests of credentials'),
    fraction: 1 / 2,
  });
  readonly #retestQueue = new RetestQueue();
  /** Set by {@link RotationService}. */
  formerCredentials: FormerCredentials | null = null;

  constructor(
    readonly sql: Sql,
    readonly accounts: ProviderAccountService,
    readonly dialer: Dialer,
    readonly log: Logger,
    readonly minting: Pick<MintService, 'exchange' | 'replaceRejected'>,
  ) {}

  /** Tests credentials of an agent, or shared ones (null), without recording the outcome. */
  probe(orgId: string, provider: Provider, credentials: Credentials, agentId: string | null): Promise<TestResult> {
    return this.#probeWithSlot(orgId, provider, credentials, agentId);
  }

  /** Why a test did not succeed, for people; null: it did. */
  describe(result: TestResult): string | null {
    return describeResult(result);
  }

  /** Tests credentials that are not stored yet. */
  async testUnsavedCredentials(actor: Actor, input: TestInput): Promise<TestReply> {
    const { provider, credentials } = await this.accounts.parseCredentialInput(
      actor,
      input.providerSlug,
      input.credentials,
    );
    const reply = toTestReply(await this.#probeWithSlot(actor.orgId, provider, credentials, input.agentId ?? null));
    return this.#auditTest(actor, 'account.test', { type: 'provider', id: input.providerSlug }, reply);
  }

  /** Tests a stored account and records the outcome in it. */
  async testAccount(actor: Actor, id: string): Promise<TestReply> {
    const result = await this.#testStoredAccount(actor.orgId, id);
    if (result === null) throw new NotFound('provider account');
    return this.#auditTest(actor, 'account.test', { type: 'account', id }, toTestReply(result));
  }

  /** Tests a stored shared credential and records the outcome in it. */
  async testSharedCredential(actor: Actor, id: string): Promise<TestReply> {
    const result = await this.#testStoredSharedCredential(actor.orgId, id);
    if (result === null) throw new NotFound('credential');
    return this.#auditTest(actor, 'credential.test', { type: 'credential', id }, toTestReply(result));
  }

  /** Records in the audit trail that a user or program had the credential tested, with the outcome. */
  async #auditTest(
    actor: Actor,
    action: 'account.test' | 'credential.test',
    target: { readonly type: string; readonly id: string },
    reply: TestReply,
  ): Promise<TestReply> {
    const changes = { ok: [null, reply.ok], status: [null, reply.status] } as const;
    await this.sql.begin((tx) => recordAudit(tx, actor, action, target, changes));
    return reply;
  }

  /**
   * Queues accounts whose calls got 401 or 403 for a retest. The queue is in memory: after a restart the next such call
   * queues the account again.
   */
  async onBooked(_tx: Tx, { entries }: BookedUsage): Promise<void> {
    const nowMs = Date.now();
    for (const { upstreamStatus, dimensions } of entries) {
      if (upstreamStatus === 401 || upstreamStatus === 403) this.#retestQueue.enqueue(dimensions, nowMs);
    }
  }

  /** Tests queued accounts, and credentials that were rejected at least an hour ago. */
  async retestDue(nowMs: number): Promise<void> {
    const candidates = this.#retestQueue.dequeue(RETESTS_PER_RUN, RETESTS_PER_ORG);
    const [own, shared] = await this.#claimDueRetests();
    // In parallel: a hanging provider delays only the tests of its own organization.
    const outcomes = await Promise.allSettled([
      ...candidates.map(({ accountId, orgId }) => this.#testQueuedAccount(orgId, accountId, nowMs)),
      ...own!.map(({ id, orgId }) => this.#testStoredAccount(orgId, id)),
      ...shared!.map(({ id, orgId }) => this.#testStoredSharedCredential(orgId, id)),
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !(outcome.reason instanceof TooManyAttempts)) throw outcome.reason;
    }
  }

  #claimDueRetests() {
    const claim = (table: 'provider_accounts' | 'credentials') =>
      store.claimDueRetests(this.sql, table, {
        olderThanMs: RETEST_AFTER_MS,
        limit: RETESTS_PER_RUN,
        perOrg: RETESTS_PER_ORG,
      });
    return Promise.all([claim('provider_accounts'), claim('credentials')]);
  }

  /** Rejected calls of many accounts cause one test of the credential that they share. */
  #wasTestedRecently(credentialId: string | null, nowMs: number): boolean {
    return credentialId !== null && !this.#retestQueue.tryMark(credentialId, nowMs);
  }

  async #testQueuedAccount(orgId: string, id: string, nowMs: number): Promise<void> {
    const account = await store.loadEncryptedCredential(this.sql, orgId, id);
    if (account === null || this.#wasTestedRecently(account.credentialId, nowMs)) return;
    const accountId = account.credentialId === null ? id : null;
    // A minted credential is replaced first: its next rejection says whether that was the cause.
    const owner = { orgId, accountId, credentialId: account.credentialId, agentId: null };
    if (!(await this.minting.replaceRejected(owner))) await this.#testStoredAccount(orgId, id);
  }

  #testStoredAccount(orgId: string, id: string): Promise<TestResult | null> {
    return this.#testStoredCredential(orgId, (sql) => store.loadEncryptedCredential(sql, orgId, id));
  }

  #testStoredSharedCredential(orgId: string, id: string): Promise<TestResult | null> {
    return this.#testStoredCredential(orgId, (sql) => store.loadEncryptedSharedCredential(sql, orgId, id));
  }

  async #testStoredCredential(
    orgId: string,
    load: (sql: Sql | Tx) => Promise<store.EncryptedCredential | null>,
  ): Promise<TestResult | null> {
    const known = await load(this.sql);
    if (known === null) return null;
    // Read again while the provider is locked: if its address has changed meanwhile, the stored status shows it.
    const [provider, sealed] = await this.sql.begin(async (tx) => {
      const locked = await this.accounts.lockProvider(tx, orgId, known.providerSlug);
      return [locked.provider, await load(tx)] as const;
    });
    if (sealed === null) return null;
    // A credential is never sent to another host than the one it was stored for, not even in a test.
    if (!sealed.isUsable) return UNUSABLE_RESULT;
    const credentials = decryptCredentials(this.accounts.vault, this.log, orgId, sealed);
    if (credentials === null) return UNUSABLE_RESULT;
    const result = await this.#probeWithSlot(orgId, provider, credentials, sealed.agentId);
    if (judgeTest(result) === 'rejected' && (await this.#restoreFormer(orgId, sealed)))
      return { ...result, isRolledBack: true };
    // Where no credential was minted, the state of the minting says why.
    if (result.status !== null) await this.#recordOutcome(orgId, sealed, result.refused);
    return result;
  }

  /**
   * The provider rejects the current credential: restores the previous one of a rotation, if the provider accepts that.
   * Calls of agents never cause this by themselves, because agents can provoke rejections.
   */
  async #restoreFormer(orgId: string, sealed: store.EncryptedCredential): Promise<boolean> {
    const { credentialId } = sealed;
    const owner =
      credentialId === null
        ? { kind: 'account' as const, orgId, id: sealed.id! }
        : { kind: 'credential' as const, orgId, id: credentialId };
    const former = (await this.formerCredentials?.loadFormer(owner)) ?? null;
    if (former === null) return false;
    const result = await this.#probeWithSlot(orgId, former.provider, former.credentials, former.agentId);
    return judgeTest(result) === 'accepted' && this.formerCredentials!.restore(owner, sealed.nonce);
  }

  /**
   * Only an account that was disabled by a rejection is enabled by a test. After a change of the provider's address the
   * credential must be set again.
   */
  async #recordOutcome(orgId: string, sealed: store.EncryptedCredential, refused: boolean): Promise<void> {
    await this.sql.begin(async (tx) => {
      const changed = await store.recordTestOutcome(tx, orgId, sealed, refused);
      if (!changed) return;
      const { providerSlug, credentialId } = sealed;
      const [accountId, agentId] = credentialId === null ? [sealed.id, sealed.agentId] : [null, null];
      this.log.info({ accountId, credentialId, orgId, refused }, 'credential tested');
      const data = { providerSlug, accountId, credentialId, agentId, orgId };
      await appendEvent(tx, orgId, refused ? 'credential.refused' : 'credential.accepted', data);
      const stale = credentialId === null ? null : await listStaleContexts(tx, orgId, credentialId);
      await publishInvalidations(tx, stale ?? [{ kind: 'agent', id: agentId! }]);
    });
  }

  #probeWithSlot(
    orgId: string,
    provider: Provider,
    credentials: Credentials,
    agentId: string | null,
  ): Promise<TestResult> {
    return runWithoutRequestSlot(() =>
      this.#semaphore.run(orgId, () => this.#mintAndProbe(orgId, provider, credentials, agentId)),
    );
  }

  /** Exchanges the credentials first where the gateway mints what it sends. */
  async #mintAndProbe(
    orgId: string,
    provider: Provider,
    credentials: Credentials,
    agentId: string | null,
  ): Promise<TestResult> {
    const method = provider.method(credentials);
    if (method === null) return this.#probeUpstream(orgId, provider, credentials);
    if (isSignedByGateway(method) && agentId === null) return NOT_TESTED_WITHOUT_AGENT;
    // Its grant must not be used up by a test.
    if (method.kind === 'oauth2_authorization_code') return NOT_TESTED_BEFORE_CONNECT;
    const name = `Exchange at ${provider.tokenEndpoint(method, credentials)?.url ?? 'the token endpoint'}`;
    const began = performance.now();
    try {
      const { fields, lifetimeS, scope } = await this.minting.exchange({
        orgId,
        provider,
        method,
        credentials,
        agentId,
        grant: null,
        server: null,
      });
      const life = lifetimeS === null ? 'no expiry' : `expires in ${lifetimeS} s`;
      const step = { name, ok: true, message: scope === null ? life : `${life}, scope: ${scope}` };
      const result = await this.#probeUpstream(orgId, provider, mergeMinted(credentials, fields));
      const probe = { name: result.call ?? 'Call of the provider', ...describeProbe(result) };
      return { ...result, steps: result.untestable === null ? [step, probe] : [step] };
    } catch (error) {
      if (!(error instanceof MintFailure)) throw error;
      const { cause, remedy } = MINT_FAILURES[error.code];
      const message = `${cause} ${remedy}${error.detail === null ? '' : ` (${error.detail})`}`;
      const latencyMs = Math.round(performance.now() - began);
      const steps = [{ name, ok: false, message }];
      const failure = { code: error.code, message };
      return { call: null, status: null, refused: true, latencyMs, untestable: null, steps, failure };
    }
  }

  async #probeUpstream(orgId: string, provider: Provider, credentials: Credentials): Promise<TestResult> {
    const agents: Agent[] = [];
    try {
      const result = await probeCredential(provider, credentials, (isTenantAddress) => {
        const connect = createUndiciConnector(this.dialer, isTenantAddress ? orgId : null);
        const agent = new Agent({ connect, pipelining: 0 });
        agents.push(agent);
        return agent;
      });
      return { ...result, untestable: reasonWithoutProbe(provider) };
    } finally {
      for (const agent of agents) void agent.destroy().catch(() => undefined);
    }
  }
}

export interface FormerCredential {
  /** At the address for which the credential was stored. */
  readonly provider: Provider;
  /** Null: the credential is shared. */
  readonly agentId: string | null;
  readonly credentials: Credentials;
}

/** Previous credentials of rotations with overlap (rotation-service.ts). */
interface FormerCredentials {
  /** The one that may be restored; null: none is kept. */
  loadFormer(owner: RotationOwner): Promise<FormerCredential | null>;
  /** Restores the previous one, unless the current one is no longer that of `nonce` (base64). */
  restore(owner: RotationOwner, nonce: string): Promise<boolean>;
}

function describeProbe({ status, refused }: ProbeResult): { ok: boolean; message: string } {
  if (status === null) return { ok: false, message: 'No answer in time.' };
  return { ok: status < 500 && !refused, message: `HTTP ${status}` };
}

const NOT_TESTED_WITHOUT_AGENT: TestResult = Object.freeze({
  call: null,
  status: null,
  refused: true,
  latencyMs: 0,
  untestable: 'state agentId, which the token of the gateway names.',
});

const NOT_TESTED_BEFORE_CONNECT: TestResult = Object.freeze({
  call: null,
  status: null,
  refused: false,
  latencyMs: 0,
  untestable: 'connect the account at the provider. Its page shows the state of the connection.',
});

const UNUSABLE_RESULT: TestResult = Object.freeze({
  call: null,
  status: null,
  refused: true,
  latencyMs: 0,
  untestable: null,
});

function toTestReply(result: TestResult): TestReply {
  const { call, status, refused, latencyMs } = result;
  const ok = status !== null && status < 500 && !refused;
  const isMinted = result.steps !== undefined && result.failure === undefined && result.untestable !== null;
  return { ok: ok || isMinted, call, status, latencyMs, hint: describeResult(result), steps: result.steps ?? [] };
}

function describeResult({ status, refused, untestable, failure, isRolledBack }: TestResult): string | null {
  if (isRolledBack === true) return 'The provider rejects this credential: the previous one is in use again.';
  if (failure !== undefined) return failure.message;
  if (untestable !== null) return `Not tested: ${untestable}`;
  if (refused && status === null) return 'The account needs its credentials set again.';
  if (refused) return 'The provider rejects this credential: check that it is complete and still valid.';
  if (status === null) return 'The provider could not be reached in time.';
  if (status >= 500) return 'The provider returned a server error: try again later.';
  if (status === 401 || status === 403) return 'The provider accepts this credential, but it lacks some permissions.';
  return null;
}
