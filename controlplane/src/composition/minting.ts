/** Builds the module that mints credentials. Part of the composition root. */
import { Dialer } from '@acg/base/dialer/dialer';
import type { NameResolver } from '@acg/base/dns/name-resolver-interface';
import { OperatorNameResolver } from '@acg/base/dns/operator-name-resolver';
import type { Logger } from '@acg/base/log';
import type { Config } from '../config.js';
import { pruneConnects } from '../connections/connection-store.js';
import type { Sql } from '../db/postgres-client.js';
import type { GatewayIssuer } from '../issuer/gateway-issuer.js';
import { MintService } from '../minting/mint-service.js';
import { pruneClients } from '../minting/oauth-client-store.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import { decryptCredentials } from '../provider-accounts/credential-encryption.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/aes-gcm-vault.js';

const CONNECT_TIMEOUT_MS = 5_000;
const REFRESH_INTERVAL_MS = 1_000;
const PRUNE_INTERVAL_MS = 60_000;
/** A next key is published a day before it signs. */
const ISSUER_KEYS_INTERVAL_MS = 3_600_000;

interface MintingDependencies {
  readonly config: Config;
  readonly log: Logger;
  /** Not that of a request's transaction. */
  readonly sql: Sql;
  readonly vault: Vault;
  readonly catalogue: Catalogue;
  readonly tenantNames: NameResolver;
  readonly issuer: GatewayIssuer;
}

interface MintingModule {
  readonly minting: MintService;
  start(): void;
  stop(): Promise<void>;
}

export function buildMinting({
  config,
  log,
  sql,
  vault,
  catalogue,
  tenantNames,
  issuer,
}: MintingDependencies): MintingModule {
  const dialer = new Dialer({
    allowCidrs: config.egressAllowCidrs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    tenantNames,
    operatorNames: new OperatorNameResolver(),
  });
  const minting = new MintService({
    sql,
    vault,
    catalogue,
    dialer,
    log,
    signer: issuer,
    open: (orgId, row) => decryptCredentials(vault, log, orgId, { ...row, id: row.accountId }),
  });
  const background = new BackgroundTasks(log);
  return {
    minting,
    start() {
      background.runEvery('refresh of minted credentials', REFRESH_INTERVAL_MS, () => minting.refreshDue());
      background.runEvery('keys of issuers', ISSUER_KEYS_INTERVAL_MS, () => issuer.rotateDue());
      background.runEvery('old connections under way', PRUNE_INTERVAL_MS, () => pruneConnects(sql));
      background.runEvery('unused OAuth clients', PRUNE_INTERVAL_MS, () => pruneClients(sql));
    },
    stop: () => background.stop(),
  };
}
