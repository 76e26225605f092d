/**
 * Runs checks of billing accounts: reads the provider's report, compares it with the ledger and replaces the lines of
 * the month in one transaction, with the events that follow. A lease keeps a second check of the account out; a failed
 * check changes no line and states its problem.
 */
import { randomUUID } from 'node:crypto';
import { DynamicShare } from '@acg/base/fairness/dynamic-share';
import { FairSemaphore } from '@acg/base/fairness/fair-semaphore';
import type { Logger } from '@acg/base/log';
import { DAY_MS, HOUR_MS, NANOS_PER_CENT } from '@acg/base/time-and-money-units';
import type { Sql, Tx } from '../db/postgres-client.js';
import { createQueueFullError } from '../domain/errors.js';
import { appendEvent } from '../events/append-events.js';
import type { OperatorPrices } from '../prices/operator-prices.js';
import { decryptCredentials } from '../provider-accounts/credential-encryption.js';
import type { DecryptionError, Vault } from '../vault/aes-gcm-vault.js';
import { type LeasedAccount, leaseAccount, recordCheck, releaseAccount } from './account-store.js';
import { ReportProblem } from './apis/report-client.js';
import { assertExactLines } from './check-report.js';
import * as lines from './line-store.js';
import { listPricesOf } from './list-prices.js';
import { matchHeldKeys } from './match-held-keys.js';
import { presentDrifts, toDriftRows } from './price-drift-views.js';
import { REPORT_APIS, type ReportReader } from './read-report.js';
import { reconcile } from './reconcile.js';
import type { DayRange, ProviderReport } from './report/provider-report.js';

/** Providers complete their usage within minutes and their costs within a day; one more day is margin. */
const SETTLED_AFTER_MS = 2 * DAY_MS;
const CHECK_MAX_MS = 10 * 60_000;
/** Longer than a check takes, so that a lease ends only with its process. */
const LEASE_MS = 15 * 60_000;
const RETRY_AFTER_MS = HOUR_MS;
/** Hour of the nightly check in UTC, and the minutes over which accounts are spread. */
const NIGHTLY_HOUR = 3;
const SPREAD_MINUTES = 120;
/** The previous month is checked again until its last costs are final. */
const PREVIOUS_MONTH_DAYS = 5;
/** Checks at once, nightly ones and those on request each; a report may have 256 MiB. */
const NIGHTLY_MAX = 4;
const REQUESTED_MAX = 4;
const REQUESTED_WAITING_MAX = 100;

interface CheckOutcome {
  /** Null: the check succeeded. */
  readonly problem: string | null;
}

interface Dependencies {
  readonly sql: Sql;
  readonly vault: Vault;
  readonly log: Logger;
  readonly prices: OperatorPrices;
  readonly reader: ReportReader;
  /** Days for which the ledger keeps records. */
  readonly retentionDays: number;
  /** Runs a nightly check in the background. */
  readonly run: (check: () => Promise<void>) => void;
}

export class CheckRunner {
  readonly #stop = new AbortController();
  /** A lane is a provider, or the organization whose own server answers: no lane gets all slots. */
  readonly #nightly = new DynamicShare({ capacity: NIGHTLY_MAX, fraction: 1 / 2 });
  /** One lease at a time, so that the next one knows which lanes are full. */
  readonly #nightlyLease = new FairSemaphore({ runningMax: 1 });
  readonly #requested = new FairSemaphore({
    runningMax: REQUESTED_MAX,
    waitingMax: REQUESTED_WAITING_MAX,
    createError: () => createQueueFullError('checks of bills'),
    fraction: 1 / 2,
  });

  constructor(readonly on: Dependencies) {}

  /** Aborts running checks; they change nothing. */
  stop(): void {
    this.#stop.abort();
  }

  /** Starts the nightly checks that are due and have a slot. The end of each starts the next one. */
  async startDue(now: () => number): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const account = await this.#nightlyLease.run('', () => this.#leaseDue());
      if (account === null) return;
      this.on.run(async () => {
        try {
          await this.#checkNightly(account, now());
        } finally {
          this.#nightly.release(account.lane);
        }
        await this.startDue(now);
      });
    }
  }

  /** Takes a slot, too. Null: no slot is free, or no account that may have it is due. */
  async #leaseDue(): Promise<LeasedAccount | null> {
    if (this.#nightly.free <= 0) return null;
    const fullLanes = [...this.#nightly.lanes.keys()].filter((lane) => this.#nightly.available(lane) <= 0);
    const account = await leaseAccount(this.on.sql, { exceptLanes: fullLanes }, randomUUID(), LEASE_MS);
    if (account !== null) this.#nightly.take(account.lane);
    return account;
  }

  async #checkNightly(account: LeasedAccount, nowMs: number): Promise<void> {
    const month = monthOf(nowMs);
    const months = new Date(nowMs).getUTCDate() <= PREVIOUS_MONTH_DAYS ? [previousMonth(month), month] : [month];
    const kept = months.filter((name) => this.#checkedRange(account, name, nowMs) !== null);
    await this.#check(account, kept, nowMs);
  }

  /** Checks one month now. Null: another check of the account is running. Throws where too many checks wait. */
  runNow(orgId: string, id: string, month: string, nowMs: number): Promise<CheckOutcome | null> {
    return this.#requested.run(orgId, async () => {
      const account = await leaseAccount(this.on.sql, { orgId, id }, randomUUID(), LEASE_MS);
      return account === null ? null : this.#check(account, [month], nowMs);
    });
  }

  async #check(account: LeasedAccount, months: readonly string[], nowMs: number): Promise<CheckOutcome> {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(CHECK_MAX_MS)]);
    try {
      for (const month of months) await this.#checkMonth(account, month, nowMs, signal);
      await releaseAccount(this.on.sql, account, null, nextNight(account.id, nowMs));
      return { problem: null };
    } catch (error) {
      const problem = describeProblem(error);
      this.on.log.warn({ billingAccountId: account.id, orgId: account.orgId, err: error }, 'billing check failed');
      await releaseAccount(this.on.sql, account, problem, new Date(nowMs + RETRY_AFTER_MS));
      return { problem };
    }
  }

  async #checkMonth(account: LeasedAccount, month: string, nowMs: number, signal: AbortSignal): Promise<void> {
    const { sql, vault, prices, reader } = this.on;
    const range = this.#checkedRange(account, month, nowMs);
    if (range === null) throw new ReportProblem(this.#describeUncheckedMonth(account, month, nowMs));
    const { id, orgId, api, providerSlug, sealed } = account;
    const adminKey = vault.decrypt({ purpose: 'billing', orgId, id }, sealed);
    const report = await reader.read({ orgId, api, providerSlug, adminKey }, range, nowMs, signal);
    const { keys, ambiguousLabels } = await this.#recordHeldKeys(account, report);
    const { bucketMs } = REPORT_APIS[api];
    const booked = await lines.sumLedger(sql, { orgId, billingAccountId: id, providerSlug, bucketMs, ...range });
    const custom = await reader.customProviders.own(orgId);
    const result = reconcile({
      booked,
      report: { ...report, keys },
      ambiguousLabels,
      heldLabels: new Set(await lines.listHeldLabels(sql, id)),
      listPrices: listPricesOf(prices, custom, providerSlug),
      settledBeforeMs: nowMs - SETTLED_AFTER_MS,
    });
    assertExactLines(result.lines);
    await sql.begin(async (tx) => {
      if (!(await isLeased(tx, account))) throw new ReportProblem('Another check of this account took over.');
      await lines.replaceLines(tx, id, range, result.lines);
      await lines.replaceDrifts(tx, id, range, toDriftRows(result.drifts));
      await this.#appendEvents(tx, account, month, range);
      await recordCheck(tx, id, month);
    });
  }

  /** The days of the month that have begun, whose records are kept and which the provider reports; null: none. */
  #checkedRange({ api }: LeasedAccount, month: string, nowMs: number): DayRange | null {
    const { fromMs, toMs } = lines.monthRange(month);
    const today = nowMs - (nowMs % DAY_MS);
    const { reportedDays } = REPORT_APIS[api];
    const keptFrom = today - (this.on.retentionDays - 1) * DAY_MS;
    const from = Math.max(fromMs, keptFrom, reportedDays === null ? 0 : today - reportedDays * DAY_MS);
    const to = Math.min(toMs, today + DAY_MS);
    return from < to ? { fromMs: from, toMs: to } : null;
  }

  #describeUncheckedMonth({ api }: LeasedAccount, month: string, nowMs: number): string {
    if (lines.monthRange(month).fromMs > nowMs) return `${month} has not begun.`;
    const { reportedDays } = REPORT_APIS[api];
    if (reportedDays !== null && reportedDays < this.on.retentionDays)
      return `The provider reports no day of ${month} any more: it keeps ${reportedDays} days. Check a later month.`;
    return `The ledger holds no records of ${month}: it keeps them for ${this.on.retentionDays} days. Check a later month.`;
  }

  async #recordHeldKeys({ id, orgId, providerSlug }: LeasedAccount, { keys }: ProviderReport) {
    const { sql, vault, log } = this.on;
    const holders = (await lines.listHolders(sql, orgId, providerSlug)).map((holder) => {
      const secrets = Object.values(decryptCredentials(vault, log, orgId, holder) ?? {});
      return { accountId: holder.id, secrets, rotatedAt: holder.rotatedAt };
    });
    const matched = matchHeldKeys(keys, holders);
    await lines.recordHeldKeys(sql, id, matched.held);
    return matched;
  }

  async #appendEvents(tx: Tx, account: LeasedAccount, month: string, range: DayRange): Promise<void> {
    const { id, orgId, providerSlug, alertCents } = account;
    const leaks = await lines.listUnattributed(tx, id, range, alertCents * NANOS_PER_CENT);
    for (const { keyLabel, day, nanos } of leaks) {
      if (!(await lines.markAlert(tx, id, 'credential.used_elsewhere', `${keyLabel} ${day}`))) continue;
      const unattributedCents = Math.floor(nanos / NANOS_PER_CENT);
      await appendEvent(tx, orgId, 'credential.used_elsewhere', {
        providerSlug,
        keyLabel,
        day,
        unattributedCents,
        orgId,
      });
    }
    const drifts = presentDrifts(await lines.listDrifts(tx, orgId, month), new Map([[id, providerSlug]]));
    for (const { model, since, pricesFile } of drifts) {
      if (!(await lines.markAlert(tx, id, 'price.drift', `${model} ${month}`))) continue;
      await appendEvent(tx, orgId, 'price.drift', { providerSlug, model, day: since, pricesFile, orgId });
    }
  }
}

async function isLeased(tx: Tx, { id, lease }: LeasedAccount): Promise<boolean> {
  const rows = await tx`select 1 from billing_accounts where id = ${id} and lease = ${lease} for update`;
  return rows.length > 0;
}

function describeProblem(error: unknown): string {
  if (error instanceof ReportProblem) return error.message;
  const { name } = error as DecryptionError;
  if (name === 'DecryptionError') return 'The stored admin key cannot be decrypted: enter it again.';
  if (name === 'AbortError' || name === 'TimeoutError') return 'The check was interrupted. The next check tries again.';
  return 'The check failed for a reason of the gateway, which its log states. The next check tries again.';
}

export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7);

function previousMonth(month: string): string {
  return monthOf(lines.monthRange(month).fromMs - DAY_MS);
}

/** Spread by account, so that the checks of all organizations do not reach a provider at once. */
function nextNight(id: string, nowMs: number): Date {
  const minute = Number.parseInt(id.slice(-4), 16) % SPREAD_MINUTES;
  const tonight = nowMs - (nowMs % DAY_MS) + NIGHTLY_HOUR * HOUR_MS + minute * 60_000;
  return new Date(tonight > nowMs ? tonight : tonight + DAY_MS);
}
