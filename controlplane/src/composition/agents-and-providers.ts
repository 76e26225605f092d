/**
 * Builds the module for agents: agents, keys, providers, provider accounts and prices. Part of the composition root.
 */

import { Dialer } from '@acg/base/dialer/dialer';
import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import { agentRoutes } from '../agents/routes.js';
import { AgentService } from '../agents/service.js';
import { apiKeyRoutes } from '../api-keys/routes.js';
import { ApiKeyService } from '../api-keys/service.js';
import { attentionRoutes } from '../attention/routes.js';
import { BreakerTransitionWriter } from '../breaker/breaker-transition-writer.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/postgres-client.js';
import type { App } from '../http/app.js';
import type { UsageObserver } from '../ledger/usage-ingest.js';
import type { MintService } from '../minting/mint-service.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { personalAgentRoutes } from '../personal-agents/routes.js';
import { PersonalAgentService } from '../personal-agents/service.js';
import type { OperatorPrices } from '../prices/operator-prices.js';
import { priceRoutes } from '../prices/price-list-routes.js';
import { CallCheck } from '../provider-accounts/call-check.js';
import { CredentialTester } from '../provider-accounts/credential-tester.js';
import { McpTools } from '../provider-accounts/mcp-tools.js';
import { rotationRoutes } from '../provider-accounts/rotation-routes.js';
import { RotationService } from '../provider-accounts/rotation-service.js';
import { accountRoutes } from '../provider-accounts/routes.js';
import { ProviderAccountService } from '../provider-accounts/service.js';
import { sharedCredentialRoutes } from '../provider-accounts/shared-credential-routes.js';
import { SharedCredentialService } from '../provider-accounts/shared-credential-service.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { CircuitOverrideService } from '../providers/circuit-override-service.js';
import { CustomProviderService } from '../providers/custom/custom-provider-service.js';
import { customProviderRoutes } from '../providers/custom/routes.js';
import { providerAndCircuitRoutes } from '../providers/provider-and-circuit-routes.js';
import { createCallRunsHandler } from '../runs/call-runs-handler.js';
import { runRoutes } from '../runs/routes.js';
import { RunService } from '../runs/service.js';
import { Throttle } from '../throttling/throttle.js';
import { IssuerKeys } from '../trust-rules/issuer-keys.js';
import { trustRuleRoutes } from '../trust-rules/routes.js';
import { TrustRuleService } from '../trust-rules/service.js';
import { pruneRuleKeys } from '../trust-rules/store.js';
import { TokenExchange } from '../trust-rules/token-exchange.js';
import { tokenRoute } from '../trust-rules/token-route.js';
import type { Vault } from '../vault/aes-gcm-vault.js';

interface AgentsDependencies {
  readonly config: Config;
  readonly log: Logger;
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly prices: OperatorPrices;
  readonly tenantNames: NameResolver;
  readonly minting: MintService;
}

interface AgentsModule {
  /** Detects accounts whose calls are rejected by their provider; for the usage ingest. */
  readonly usageObserver: UsageObserver;
  readonly customProviders: CustomProviderService;
  /** gRPC handlers for data planes. */
  readonly handlers: Pick<GatewayHandlers, 'callRuns'>;
  start(): void;
  stop(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 5_000;
const ROTATION_INTERVAL_MS = 1_000;
const RETEST_POLL_INTERVAL_MS = 10_000;
const RESCHEDULED_KEYS_INTERVAL_MS = 1_000;
const RUN_EXPIRY_INTERVAL_MS = 1_000;
const RUN_DELETION_INTERVAL_MS = 60_000;
const PRUNE_INTERVAL_MS = 60_000;

export function buildAgentsAndProviders(
  app: App,
  { config, log, sql, vault, catalogue, prices, tenantNames, minting }: AgentsDependencies,
): AgentsModule {
  const allowCidrs = config.egressAllowCidrs;
  const agents = new AgentService(sql, catalogue);
  const ownUrls = config.proxyUrl === null ? [config.publicUrl] : [config.publicUrl, config.proxyUrl];
  const customProviders = new CustomProviderService(sql, catalogue, allowCidrs, tenantNames, ownUrls);
  agentRoutes(app, agents);
  const keys = new ApiKeyService(sql, agents);
  apiKeyRoutes(app, keys);
  const runs = new RunService(sql, catalogue);
  runRoutes(app, runs);
  providerAndCircuitRoutes(
    app,
    catalogue,
    customProviders,
    sql,
    new CircuitOverrideService(sql, catalogue, new BreakerTransitionWriter(config.circuit, log)),
  );
  customProviderRoutes(app, customProviders);
  priceRoutes(app, prices, catalogue, customProviders);
  attentionRoutes(app, sql, catalogue);
  const accounts = new ProviderAccountService(sql, vault, catalogue, agents, customProviders, allowCidrs, tenantNames);
  personalAgentRoutes(app, new PersonalAgentService(sql, agents, keys, accounts));
  const dialer = new Dialer({
    allowCidrs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    tenantNames,
    operatorNames: new OperatorNameResolver(),
  });
  const tests = new CredentialTester(sql, accounts, dialer, log, minting);
  const rotations = new RotationService(sql, accounts, agents, tests, log);
  accountRoutes(app, {
    accounts,
    tests,
    calls: new CallCheck(agents, accounts),
    tools: new McpTools(accounts, dialer, log, minting),
    rotations,
  });
  const shared = new SharedCredentialService(sql, accounts);
  sharedCredentialRoutes(app, shared, tests, rotations);
  rotationRoutes(app, rotations, accounts, shared);
  const issuerKeys = new IssuerKeys(sql, dialer);
  const resolveHost = (orgId: string) => (host: string) => tenantNames.resolve(host, orgId);
  const { publicUrl } = config;
  const rules = new TrustRuleService({ sql, agents, keys: issuerKeys, publicUrl, allowCidrs, resolveHost });
  trustRuleRoutes(app, rules);
  const throttle = new Throttle(sql);
  tokenRoute(app, new TokenExchange(sql, issuerKeys, throttle), throttle);
  const background = new BackgroundTasks(log);
  return {
    usageObserver: tests,
    customProviders,
    handlers: createCallRunsHandler(runs, log),
    start() {
      background.runEvery('credential tests', RETEST_POLL_INTERVAL_MS, () => tests.retestDue(Date.now()));
      background.runEvery('rotations of credentials', ROTATION_INTERVAL_MS, () => rotations.runDue());
      background.runEvery('expiry of rescheduled keys', RESCHEDULED_KEYS_INTERVAL_MS, () =>
        keys.expireRescheduledKeys(),
      );
      background.runEvery('expiry of runs', RUN_EXPIRY_INTERVAL_MS, () => runs.expireDue());
      background.runEvery('old runs', RUN_DELETION_INTERVAL_MS, () => runs.deleteOld());
      background.runEvery('pruning of exchanged keys', PRUNE_INTERVAL_MS, () => pruneRuleKeys(sql));
    },
    stop: () => background.stop(),
  };
}
