/** Billing accounts, checks on demand, the report of a month and adjustments (docs/contract.md#reconciliation). */
import { NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import { uuidv7 } from '@acg/base/uuidv7';
import { recordAudit } from '../audit/audit-trail.js';
import type { Sql } from '../db/postgres-client.js';
import { Conflict, InvalidInput, NotFound } from '../domain/errors.js';
import type { ListResult, Page } from '../http/limit-offset-pagination.js';
import { runWithoutRequestSlot } from '../http/org-request-slots.js';
import type { Actor } from '../http/route-access.js';
import type { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import * as store from './account-store.js';
import { type CheckRunner, monthOf } from './check-runner.js';
import * as lineStore from './line-store.js';
import { presentDrifts } from './price-drift-views.js';
import type {
  AccountReport,
  Adjustment,
  AdjustmentInput,
  BillingAccount,
  BillingAccountInput,
  BillingAccountPatch,
  BillingLineView,
  BillingReport,
  LineQuery,
} from './schema.js';

const TARGET_TYPE = 'billing_account';
const DEFAULT_ALERT_CENTS = 100;
/** An open difference below one cent is rounding. */
const OPEN_CENTS_MIN = 1;
const auditTarget = (id: string) => ({ type: TARGET_TYPE, id });

export class BillingService {
  constructor(
    readonly sql: Sql,
    readonly vault: Vault,
    readonly customProviders: CustomProviderService,
    readonly checks: CheckRunner,
  ) {}

  async create(actor: Actor, input: BillingAccountInput): Promise<BillingAccount> {
    const { orgId } = actor;
    const { api, name, adminKey, alertCents = DEFAULT_ALERT_CENTS } = input;
    const providerSlug = await this.#comparedProvider(orgId, input);
    const id = uuidv7(Date.now());
    const sealed = this.vault.encrypt({ purpose: 'billing', orgId, id }, adminKey);
    return this.sql.begin(async (tx) => {
      const row = await store.insertAccount(tx, { id, orgId, api, providerSlug, name, alertCents, sealed });
      if (row === null) throw new Conflict(`${providerSlug} already has a billing account: change that one`);
      const changes = { name: [null, name], api: [null, api], providerSlug: [null, providerSlug] } as const;
      await recordAudit(tx, actor, 'billing_account.create', auditTarget(id), changes);
      return presentAccount(row);
    });
  }

  /** The account's API is that of a built-in provider. OpenRouter may be a custom provider, which the caller names. */
  async #comparedProvider(orgId: string, { api, providerSlug = api }: BillingAccountInput): Promise<string> {
    if (providerSlug === api) return api;
    if (api !== 'openrouter') throw new InvalidInput(`providerSlug of ${api} must be left out`);
    const custom = await this.customProviders.own(orgId);
    if (!custom.some(({ slug }) => slug === providerSlug)) throw new NotFound(`custom provider ${providerSlug}`);
    return providerSlug;
  }

  async update(actor: Actor, id: string, patch: BillingAccountPatch): Promise<BillingAccount> {
    const { orgId } = actor;
    const { name = null, alertCents = null, adminKey } = patch;
    const sealed = adminKey === undefined ? null : this.vault.encrypt({ purpose: 'billing', orgId, id }, adminKey);
    return this.sql.begin(async (tx) => {
      const row = await store.updateAccount(tx, orgId, id, { name, alertCents, sealed });
      if (row === null) throw new NotFound('billing account');
      const changes = {
        ...(name === null ? {} : { name: [null, name] as const }),
        ...(alertCents === null ? {} : { alertCents: [null, alertCents] as const }),
        ...(sealed === null ? {} : { adminKey: ['[secret]', '[secret]'] as const }),
      };
      await recordAudit(tx, actor, 'billing_account.update', auditTarget(id), changes);
      return presentAccount(row);
    });
  }

  /** Deletes the account with its lines and adjustments. */
  async delete(actor: Actor, id: string): Promise<void> {
    await this.sql.begin(async (tx) => {
      const row = await store.deleteAccount(tx, actor.orgId, id);
      if (row === null) throw new NotFound('billing account');
      await recordAudit(tx, actor, 'billing_account.delete', auditTarget(id), { name: [row.name, null] });
    });
  }

  /** Checks a month now. The report states the problem of a check that failed. */
  async check(actor: Actor, id: string, month = monthOf(Date.now())): Promise<AccountReport> {
    const { orgId } = actor;
    if ((await store.loadAccount(this.sql, orgId, id)) === null) throw new NotFound('billing account');
    const outcome = await runWithoutRequestSlot(() => this.checks.runNow(orgId, id, month, Date.now()));
    if (outcome === null) throw new Conflict('a check of this billing account is running: try again in a minute');
    const changes = { month: [null, month], problem: [null, outcome.problem] } as const;
    await this.sql.begin((tx) => recordAudit(tx, actor, 'billing_account.check', auditTarget(id), changes));
    const { accounts } = await this.report(actor, month);
    const account = accounts.find((row) => row.id === id);
    if (account === undefined) throw new NotFound('billing account');
    return account;
  }

  async report({ orgId }: Actor, month = monthOf(Date.now())): Promise<BillingReport> {
    const [accounts, checks, sums, drifts, adjustments] = await Promise.all([
      store.listAccounts(this.sql, orgId),
      store.listChecks(this.sql, orgId, month),
      lineStore.sumMonth(this.sql, orgId, month),
      lineStore.listDrifts(this.sql, orgId, month),
      store.listAdjustments(this.sql, orgId, month),
    ]);
    return {
      month,
      accounts: accounts.map((account) =>
        presentReport(
          { ...account, checkedAt: checks.get(account.id) ?? null },
          sums.filter(({ accountId }) => accountId === account.id),
          adjustments.filter(({ accountId }) => accountId === account.id),
        ),
      ),
      drifts: presentDrifts(drifts, new Map(accounts.map(({ id, providerSlug }) => [id, providerSlug]))),
      adjustments: adjustments.map(presentAdjustment),
    };
  }

  async lines({ orgId }: Actor, id: string, query: LineQuery, page: Page): Promise<ListResult<BillingLineView>> {
    if ((await store.loadAccount(this.sql, orgId, id)) === null) throw new NotFound('billing account');
    const { month = monthOf(Date.now()), by = 'day', day, key = null, model = null, state = null } = query;
    const range = day === undefined ? lineStore.monthRange(month) : lineStore.dayRange(day);
    const { rows, total } = await lineStore.listLines(this.sql, id, { ...range, by, key, model, state }, page);
    return {
      rows: rows.map(({ start, key: label, model: name, ...sums }) => ({
        start: start?.toISOString() ?? null,
        key: label,
        model: name,
        ...presentSums(sums),
      })),
      total,
    };
  }

  async adjust(actor: Actor, { accountId, month, amountCents, reason }: AdjustmentInput): Promise<Adjustment> {
    if ((await store.loadAccount(this.sql, actor.orgId, accountId)) === null) throw new NotFound('billing account');
    return this.sql.begin(async (tx) => {
      const row = await store.insertAdjustment(tx, {
        id: uuidv7(Date.now()),
        accountId,
        month,
        amountNanos: amountCents * NANOS_PER_CENT,
        reason,
        createdBy: actor.token?.name ?? actor.email,
      });
      const changes = { month: [null, month], amountCents: [null, amountCents], reason: [null, reason] } as const;
      await recordAudit(tx, actor, 'billing_adjustment.create', auditTarget(accountId), changes);
      return presentAdjustment(row);
    });
  }
}

const cents = (nanos: number): number => nanos / NANOS_PER_CENT;

const presentAccount = ({ checkedAt, createdAt, ...row }: store.BillingAccountRow): BillingAccount => ({
  ...row,
  checkedAt: checkedAt?.toISOString() ?? null,
  createdAt: createdAt.toISOString(),
});

const presentAdjustment = ({ amountNanos, createdAt, ...row }: store.AdjustmentRow): Adjustment => ({
  ...row,
  amountCents: cents(amountNanos),
  createdAt: createdAt.toISOString(),
});

function presentSums(sums: lineStore.LineSums) {
  const { ourNanos, theirNanos, failureNanos, unattributedNanos, ambiguousNanos, unbilledNanos, priceNanos, ...row } =
    sums;
  return {
    ...row,
    ourCents: cents(ourNanos),
    theirCents: cents(theirNanos),
    differenceCents: cents(theirNanos - ourNanos),
    failureCents: cents(failureNanos),
    unattributedCents: cents(unattributedNanos),
    ambiguousCents: cents(ambiguousNanos),
    unbilledCents: cents(unbilledNanos),
    priceCents: cents(priceNanos),
  };
}

type MonthSums = Awaited<ReturnType<typeof lineStore.sumMonth>>[number];

/** Keys that no account here holds are outside of the comparison: no call of them passes the gateway. */
function presentReport(
  account: store.BillingAccountRow,
  sums: readonly MonthSums[],
  adjustments: readonly store.AdjustmentRow[],
): AccountReport {
  const held = sums.find(({ isInScope }) => isInScope);
  const others = sums.find(({ isInScope }) => !isInScope);
  const { isHeld: _, state = 'match', ...row } = presentSums(held ?? NO_SUMS);
  // Whole cents: their sum is exact where that of nano-dollars is not.
  const adjustmentCents = adjustments.reduce((sum, { amountNanos }) => sum + cents(amountNanos), 0);
  const openCents = row.differenceCents - adjustmentCents;
  const isAdjusted = adjustments.length > 0 && Math.abs(openCents) < OPEN_CENTS_MIN && state !== 'match';
  return {
    ...presentAccount(account),
    state: account.checkedAt === null ? 'unchecked' : isAdjusted ? 'adjusted' : state,
    ourCents: row.ourCents,
    theirCents: row.theirCents,
    differenceCents: row.differenceCents,
    failureCents: row.failureCents,
    unattributedCents: row.unattributedCents,
    ambiguousCents: row.ambiguousCents,
    unbilledCents: row.unbilledCents,
    priceCents: row.priceCents,
    pendingCents: cents(held?.pendingNanos ?? 0),
    otherKeysCents: cents(others?.theirNanos ?? 0),
    adjustmentCents,
    openCents,
  };
}

const NO_SUMS: lineStore.LineSums = {
  isHeld: true,
  state: 'match',
  ourRequests: 0,
  theirRequests: null,
  ourTokens: 0,
  theirTokens: 0,
  ourNanos: 0,
  theirNanos: 0,
  failureNanos: 0,
  unattributedNanos: 0,
  ambiguousNanos: 0,
  unbilledNanos: 0,
  priceNanos: 0,
};
