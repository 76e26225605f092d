/** Builds the module that compares the ledger with the bills of providers. Part of the composition root. */
import { Dialer } from '@acg/base/dialer/dialer';
import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import type { Logger } from '@acg/base/log';
import { MINUTE_MS } from '@acg/base/time-and-money-units';
import { CheckRunner } from '../billing/check-runner.js';
import { ReportReader } from '../billing/read-report.js';
import { billingRoutes } from '../billing/routes.js';
import { BillingService } from '../billing/service.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { OperatorPrices } from '../prices/operator-prices.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import type { Vault } from '../vault/aes-gcm-vault.js';

const CONNECT_TIMEOUT_MS = 10_000;
const DUE_CHECKS_INTERVAL_MS = 5 * MINUTE_MS;

interface BillingDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly customProviders: CustomProviderService;
  readonly prices: OperatorPrices;
  readonly tenantNames: NameResolver;
}

export interface BillingModule {
  readonly checks: CheckRunner;
  start(): void;
  stop(): Promise<void>;
}

export function buildBilling(app: App, dependencies: BillingDependencies): BillingModule {
  const { config, log, sql, vault, catalogue, customProviders, prices, tenantNames } = dependencies;
  const dialer = new Dialer({
    allowCidrs: config.egressAllowCidrs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    tenantNames,
    operatorNames: new OperatorNameResolver(),
  });
  const reader = new ReportReader(catalogue, customProviders, dialer);
  const retentionDays = config.usageLogRetentionDays;
  const background = new BackgroundTasks(log);
  const run = (check: () => Promise<void>): void => void background.run('billing check', check);
  const checks = new CheckRunner({ sql, vault, log, prices, reader, retentionDays, run });
  billingRoutes(app, new BillingService(sql, vault, customProviders, checks));
  return {
    checks,
    start() {
      background.runEvery('billing checks', DUE_CHECKS_INTERVAL_MS, () => checks.startDue(Date.now));
    },
    stop() {
      checks.stop();
      return background.stop();
    },
  };
}
