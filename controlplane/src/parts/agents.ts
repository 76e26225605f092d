/** Builds what agents are made of: agents, keys, providers, accounts; a part of the composition root. */
import type { Names } from '@acg/base/names/names';
import { accountRoutes } from '../accounts/routes.js';
import { AccountService } from '../accounts/service.js';
import type { Vault } from '../accounts/vault.js';
import { agentRoutes } from '../agents/routes.js';
import { AgentService } from '../agents/service.js';
import { apiKeyRoutes } from '../api-keys/routes.js';
import { ApiKeyService } from '../api-keys/service.js';
import type { Config } from '../config.js';
import type { Sql } from '../db/sql.js';
import type { App } from '../http/app.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { customProviderRoutes } from '../providers/custom/routes.js';
import { CustomProviderService } from '../providers/custom/service.js';
import { providerRoutes } from '../providers/routes.js';

interface AgentsParts {
  readonly config: Config;
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly tenantNames: Names;
}

export function buildAgents(app: App, { config, sql, vault, catalogue, tenantNames }: AgentsParts): void {
  const allowCidrs = config.egressAllowCidrs;
  const agents = new AgentService(sql, catalogue);
  const customProviders = new CustomProviderService(sql, catalogue, allowCidrs, tenantNames);
  agentRoutes(app, agents);
  apiKeyRoutes(app, new ApiKeyService(sql, agents));
  providerRoutes(app, catalogue);
  customProviderRoutes(app, customProviders);
  const accounts = new AccountService(sql, vault, catalogue, agents, customProviders, allowCidrs, tenantNames);
  accountRoutes(app, accounts);
}
