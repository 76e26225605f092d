/**
 * Whether providers take the credentials of accounts: asked by a person, and asked again when agents' calls are refused
 * with 401 or 403. Only the provider's answer to a call of our own counts: an agent can provoke refusals of its calls. A
 * credential that is refused takes its account out of use; it is tested again every hour, and comes back when it is taken.
 */

import type { Dialer } from '@acg/base/dialer/dialer';
import { connectorOf } from '@acg/base/dialer/undici-connector';
import type { Logger } from '@acg/base/log';
import { Agent } from 'undici';
import { recordAudit } from '../audit/trail.js';
import type { Sql, Tx } from '../db/sql.js';
import { NotFound, TooManyAttempts } from '../domain/errors.js';
import { FairPlaces } from '../domain/fair-places.js';
import { appendEvent } from '../events/outbox.js';
import type { Actor } from '../http/access.js';
import { outsideTurn } from '../http/request-turns.js';
import type { BookedUsage, UsageObserver } from '../ledger/ingest.js';
import type { Credentials } from '../providers/catalogue/provider.js';
import { refusedWith401 } from '../providers/catalogue/provider.js';
import { type ProbeResult, probeCredential } from '../providers/credential-probe.js';
import { type AssignableProvider, upstreamOf } from '../providers/upstream-of.js';
import { invalidate } from '../watch/invalidate.js';
import { openCredentials } from './credentials.js';
import type { TestInput, TestReply } from './schema.js';
import type { AccountService } from './service.js';
import { contextsOn } from './shared-service.js';
import * as store from './store.js';
import { Suspects } from './suspects.js';

/** At a time in this process; a provider of a tenant's own may keep each waiting. */
const RUNNING_MAX = 8;
const WAITING_MAX = 64;
const RETEST_AFTER_MS = 3_600_000;
const RETESTS_PER_TURN = 20;
/** As many as may be asked at once of one organization: a turn with providers that hang is as short as one question. */
const RETESTS_PER_ORG = RUNNING_MAX / 2;
const CUSTOM_PROBE = { path: '', refused: refusedWith401 };

export class CredentialTests implements UsageObserver {
  readonly #places = new FairPlaces({
    runningMax: RUNNING_MAX,
    waitingMax: WAITING_MAX,
    what: 'tests of credentials',
    freeRatio: 1,
  });
  readonly #suspects = new Suspects();

  constructor(
    readonly sql: Sql,
    readonly accounts: AccountService,
    readonly dialer: Dialer,
    readonly log: Logger,
  ) {}

  /** Credentials that are not stored yet. */
  async testGiven(actor: Actor, input: TestInput): Promise<TestReply> {
    const { assignable, credentials } = await this.accounts.parse(actor, input.providerSlug, input.credentials);
    const reply = replyOf(await this.#probe(actor.orgId, assignable, credentials));
    return this.#recorded(actor, 'account.test', { type: 'provider', id: input.providerSlug }, reply);
  }

  /** Also says to the account what came out. */
  async test(actor: Actor, id: string): Promise<TestReply> {
    const result = await this.#testAccount(actor.orgId, id);
    if (result === null) throw new NotFound('provider account');
    return this.#recorded(actor, 'account.test', { type: 'account', id }, replyOf(result));
  }

  /** The same for a shared credential. */
  async testShared(actor: Actor, id: string): Promise<TestReply> {
    const result = await this.#testShared(actor.orgId, id);
    if (result === null) throw new NotFound('credential');
    return this.#recorded(actor, 'credential.test', { type: 'credential', id }, replyOf(result));
  }

  /** In the trail: that a person or program had the credential tested, and what came out. */
  async #recorded(
    actor: Actor,
    action: 'account.test' | 'credential.test',
    target: { readonly type: string; readonly id: string },
    reply: TestReply,
  ): Promise<TestReply> {
    const changes = { ok: [null, reply.ok], status: [null, reply.status] } as const;
    await this.sql.begin((tx) => recordAudit(tx, actor, action, target, changes));
    return reply;
  }

  /** Calls that are booked: which accounts may be refused by their provider. In memory: the next such call says it again. */
  async onBooked(_tx: Tx, { entries }: BookedUsage): Promise<void> {
    const nowMs = Date.now();
    for (const { upstreamStatus, kind } of entries) {
      if (upstreamStatus === 401 || upstreamStatus === 403) this.#suspects.add(kind, nowMs);
    }
  }

  /** Tests what is suspected, and what was refused an hour ago. */
  async turn(nowMs: number): Promise<void> {
    const suspects = this.#suspects.take(RETESTS_PER_TURN, RETESTS_PER_ORG);
    const [own, shared] = await this.#refusedBefore();
    // Together: whoever's provider hangs keeps its own organization's tests waiting.
    const outcomes = await Promise.allSettled([
      ...suspects.map(({ accountId, orgId }) => this.#testSuspect(orgId, accountId, nowMs)),
      ...own!.map(({ id, orgId }) => this.#testAccount(orgId, id)),
      ...shared!.map(({ id, orgId }) => this.#testShared(orgId, id)),
    ]);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected' && !(outcome.reason instanceof TooManyAttempts)) throw outcome.reason;
    }
  }

  #refusedBefore() {
    const of = (table: 'provider_accounts' | 'credentials') =>
      store.refusedBefore(this.sql, table, {
        olderThanMs: RETEST_AFTER_MS,
        limit: RETESTS_PER_TURN,
        perOrg: RETESTS_PER_ORG,
      });
    return Promise.all([of('provider_accounts'), of('credentials')]);
  }

  /** Many accounts' refused calls are one question about the credential that they share. */
  #testedLately(credentialId: string | null, nowMs: number): boolean {
    return credentialId !== null && !this.#suspects.mark(credentialId, nowMs);
  }

  async #testSuspect(orgId: string, id: string, nowMs: number): Promise<void> {
    const account = await store.loadSealed(this.sql, orgId, id);
    if (!this.#testedLately(account?.credentialId ?? null, nowMs)) await this.#testAccount(orgId, id);
  }

  #testAccount(orgId: string, id: string): Promise<ProbeResult | null> {
    return this.#test(orgId, (sql) => store.loadSealed(sql, orgId, id));
  }

  #testShared(orgId: string, id: string): Promise<ProbeResult | null> {
    return this.#test(orgId, (sql) => store.loadSealedShared(sql, orgId, id));
  }

  async #test(
    orgId: string,
    load: (sql: Sql | Tx) => Promise<store.SealedAccount | null>,
  ): Promise<ProbeResult | null> {
    const known = await load(this.sql);
    if (known === null) return null;
    // Read once more while the provider is held: where it has moved in between, what is stored says so by now.
    const [assignable, sealed] = await this.sql.begin(async (tx) => {
      const held = await this.accounts.hold(tx, orgId, known.providerSlug);
      return [held.assignable, await load(tx)] as const;
    });
    if (sealed === null) return null;
    // A credential never follows to another host, not even for a test.
    if (!sealed.usable) return UNUSABLE;
    const credentials = openCredentials(this.accounts.vault, this.log, orgId, sealed);
    if (credentials === null) return UNUSABLE;
    const result = await this.#probe(orgId, assignable, credentials);
    if (result.status !== null) await this.#conclude(orgId, sealed, result.refused);
    return result;
  }

  /** Only what the provider refused itself comes back by a test; a moved address needs its credential again. */
  async #conclude(orgId: string, sealed: store.SealedAccount, refused: boolean): Promise<void> {
    await this.sql.begin(async (tx) => {
      const changed = await store.concludeTest(tx, orgId, sealed, refused);
      if (!changed) return;
      const { providerSlug, credentialId } = sealed;
      const [accountId, agentId] = credentialId === null ? [sealed.id, sealed.agentId] : [null, null];
      this.log.info({ accountId, credentialId, orgId, refused }, 'credential tested');
      const data = { providerSlug, accountId, credentialId, agentId, orgId };
      await appendEvent(tx, orgId, refused ? 'credential.refused' : 'credential.accepted', data);
      const stale = credentialId === null ? null : await contextsOn(tx, orgId, credentialId);
      await invalidate(tx, stale ?? [{ kind: 'agent', id: agentId! }]);
    });
  }

  #probe(orgId: string, assignable: AssignableProvider, credentials: Credentials): Promise<ProbeResult> {
    return outsideTurn(() => this.#places.run(orgId, () => this.#ask(orgId, assignable, credentials)));
  }

  async #ask(orgId: string, assignable: AssignableProvider, credentials: Credentials): Promise<ProbeResult> {
    const upstream = upstreamOf(assignable, orgId, '', credentials);
    const tenant = upstream.tenantAddress ? orgId : null;
    const agent = new Agent({ connect: connectorOf(this.dialer, tenant), pipelining: 0 });
    try {
      const probe = assignable.kind === 'built_in' ? assignable.provider.probe : CUSTOM_PROBE;
      return await probeCredential(agent, upstream, probe);
    } finally {
      void agent.destroy().catch(() => undefined);
    }
  }
}

const UNUSABLE: ProbeResult = Object.freeze({ status: null, refused: true, latencyMs: 0 });

function replyOf({ status, refused, latencyMs }: ProbeResult): TestReply {
  const ok = status !== null && status < 500 && !refused;
  return { ok, status, latencyMs, hint: hintOf(status, refused) };
}

function hintOf(status: number | null, refused: boolean): string | null {
  if (refused && status === null) return 'The account needs its credentials set again.';
  if (refused) return 'The provider does not take this credential: check that it is complete and still valid.';
  if (status === null) return 'The provider could not be reached in time.';
  if (status >= 500) return 'The provider is failing: try again later.';
  if (status === 401 || status === 403) return 'The provider knows this credential, but it may not do everything.';
  return null;
}
