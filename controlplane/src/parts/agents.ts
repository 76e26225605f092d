/** Builds what agents are made of: agents, keys, providers, accounts; a part of the composition root. */

import { Dialer } from '@acg/base/dialer/dialer';
import type { Logger } from '@acg/base/log';
import type { Names } from '@acg/base/names/names';
import { OperatorNames } from '@acg/base/names/operator-names';
import { CredentialTests } from '../accounts/credential-tests.js';
import { accountRoutes } from '../accounts/routes.js';
import { AccountService } from '../accounts/service.js';
import { sharedCredentialRoutes } from '../accounts/shared-routes.js';
import { SharedCredentials } from '../accounts/shared-service.js';
import type { Vault } from '../accounts/vault.js';
import { agentRoutes } from '../agents/routes.js';
import { AgentService } from '../agents/service.js';
import { apiKeyRoutes } from '../api-keys/routes.js';
import { ApiKeyService } from '../api-keys/service.js';
import { attentionRoutes } from '../attention/routes.js';
import { Transitions } from '../circuit/transitions.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/sql.js';
import type { App } from '../http/app.js';
import type { UsageObserver } from '../ledger/ingest.js';
import { Background } from '../ops/background.js';
import type { OperatorPrices } from '../prices/operator-prices.js';
import { priceRoutes } from '../prices/routes.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { CircuitOverrides } from '../providers/circuit-override.js';
import { customProviderRoutes } from '../providers/custom/routes.js';
import { CustomProviderService } from '../providers/custom/service.js';
import { providerRoutes } from '../providers/routes.js';

interface AgentsParts {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly prices: OperatorPrices;
  readonly tenantNames: Names;
}

interface AgentsPart {
  /** Sees which accounts' calls are refused; for the ingest. */
  readonly usageObserver: UsageObserver;
  start(): void;
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const TESTS_EVERY_MS = 10_000;
const MOVED_KEYS_EVERY_MS = 1_000;

export function buildAgents(
  app: App,
  { config, log, sql, vault, catalogue, prices, tenantNames }: AgentsParts,
): AgentsPart {
  const allowCidrs = config.egressAllowCidrs;
  const agents = new AgentService(sql, catalogue);
  const ownUrls = config.proxyUrl === null ? [config.publicUrl] : [config.publicUrl, config.proxyUrl];
  const customProviders = new CustomProviderService(sql, catalogue, allowCidrs, tenantNames, ownUrls);
  agentRoutes(app, agents);
  const keys = new ApiKeyService(sql, agents);
  apiKeyRoutes(app, keys);
  providerRoutes(app, catalogue, sql, new CircuitOverrides(sql, catalogue, new Transitions(config.circuit, log)));
  customProviderRoutes(app, customProviders);
  priceRoutes(app, prices, catalogue, customProviders);
  attentionRoutes(app, sql, catalogue);
  const accounts = new AccountService(sql, vault, catalogue, agents, customProviders, allowCidrs, tenantNames);
  const dialer = new Dialer({
    allowCidrs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    tenantNames,
    operatorNames: new OperatorNames(),
  });
  const tests = new CredentialTests(sql, accounts, dialer, log);
  accountRoutes(app, accounts, tests);
  sharedCredentialRoutes(app, new SharedCredentials(sql, accounts), tests);
  const background = new Background(log);
  return {
    usageObserver: tests,
    start() {
      background.every('credential tests', TESTS_EVERY_MS, () => tests.turn(Date.now()));
      background.every('keys whose time was moved', MOVED_KEYS_EVERY_MS, () => keys.endMoved());
    },
    stop: () => background.stop(),
  };
}
