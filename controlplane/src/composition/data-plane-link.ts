/** Builds the module that serves data planes: contexts, the watch and the gRPC server. Part of the composition root. */
import type { Logger } from '@acg/base/log';
import { HOUR_MS } from '@acg/base/time-and-money-units';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { LinkSecurity } from '@acg/proto/link-tls-or-shared-secret';
import type { Config } from '../config.js';
import { createResolveHandlers } from '../contexts/resolve-token-handlers.js';
import { TokenResolutionService } from '../contexts/token-resolution-service.js';
import { DataPlaneIdentities } from '../data-planes/data-plane-identities.js';
import type { OrganizationGrants } from '../data-planes/organization-grants.js';
import type { Pools } from '../db/pools.js';
import { GrpcServer } from '../grpc/grpc-server.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { MintService } from '../minting/mint-service.js';
import { BackgroundTasks } from '../ops/background-tasks.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { createCounterStoreHandler } from '../watch/counter-store-outages.js';
import { DataPlaneWatchStreams, type InitialState } from '../watch/data-plane-watch-streams.js';
import { createCredentialUseHandler } from '../watch/former-credential-use.js';
import { createWatchHandler } from '../watch/watch-handler.js';

interface DataPlaneLinkDependencies {
  readonly config: Config;
  /** Limits the connections to the gRPC port. */
  readonly connections: ConnectionLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  readonly minting: MintService;
  readonly pools: Pick<Pools, 'feeds' | 'resolve'>;
  /** The state that a data plane gets when it connects, beside the invalidations. */
  readonly greeting: InitialState;
  /** gRPC handlers of other modules. */
  readonly handlers: Partial<GatewayHandlers>;
  readonly grants: OrganizationGrants;
}

interface DataPlaneLink {
  /** Uses these tokens for new calls, and these certificates for new connections. */
  replaceSecurity(security: LinkSecurity): void;
  /** Broadcasts to the data planes of this instance. */
  readonly hub: DataPlaneWatchStreams;
  start(): Promise<{ port: number }>;
  /**
   * Sends the data planes to other instances and lets calls in progress finish. Must be called before the services that
   * the handlers use are stopped.
   */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 5_000;

export function buildDataPlaneLink({
  config,
  connections,
  log,
  metrics,
  catalogue,
  vault,
  minting,
  pools,
  greeting,
  handlers,
  grants,
}: DataPlaneLinkDependencies): DataPlaneLink {
  const background = new BackgroundTasks(log);
  const hub = new DataPlaneWatchStreams(pools.feeds, log, greeting, (reason) => {
    if (reason !== 'went_back') return;
    metrics.countDatabaseRewind('revisions');
    background.run('store grants again', () => grants.storeCachedAgain());
  });
  const identities = new DataPlaneIdentities(pools.feeds, config.link, config.identitiesRequired, log);
  identities.onRefreshed = (revoked) => hub.endIdentities(revoked);
  metrics.addGauge(
    'gateway_invalidation_revision',
    'Newest revision of changes that this instance has read.',
    () => hub.revision,
  );
  metrics.addGauge(
    'gateway_invalidations_age_seconds',
    'Time since changes were last read from the database; until they are, no revocation is pushed.',
    () => hub.msSinceRead / 1_000,
  );
  metrics.addGauge(
    'gateway_clock_offset_seconds',
    'Time of this machine minus the database’s.',
    () => hub.clockOffsetMs / 1_000,
  );
  const contexts = new TokenResolutionService(pools.resolve, catalogue, vault, log, minting);
  metrics.addGauge('gateway_control_data_planes', 'Data planes connected to this instance.', () => hub.size);
  const countRejection = metrics.addCounter(
    'gateway_data_plane_rejections_total',
    'Rejected calls of data planes, and reports with usage of organizations of which the sender was given no context.',
    'reason',
    ['unauthenticated', 'foreign_organization'],
  );
  grants.onUngranted = ({ identity, dataPlaneId }, organizations) => {
    countRejection('foreign_organization');
    log.error(
      { identity, dataPlaneId, organizations },
      'a data plane reports usage of organizations that it was not given',
    );
  };
  const recordGrants = (identity: string, dataPlaneId: string, orgIds: readonly string[]): Promise<void> =>
    grants.record({ identity, dataPlaneId }, orgIds);
  const server = new GrpcServer(
    config.link,
    (call) => {
      const result = identities.authenticate(call);
      if ('problem' in result) countRejection('unauthenticated');
      return result;
    },
    {
      ...handlers,
      ...createResolveHandlers(contexts, recordGrants, log),
      ...createCredentialUseHandler(pools.feeds, log),
      ...createCounterStoreHandler(pools.feeds, log),
      watch: createWatchHandler(hub, log),
    },
    log,
    connections,
  );
  return {
    hub,
    replaceSecurity(security) {
      identities.replaceSecurity(security);
      server.replaceCertificates(security);
    },
    async start() {
      await identities.start();
      await hub.start();
      background.runEvery('old data plane grants', HOUR_MS, () => grants.deleteOld());
      return server.start(config.grpcListen);
    },
    async stop() {
      await Promise.all([hub.stop(), identities.stop(), background.stop()]);
      await server.stop(STOP_GRACE_MS);
    },
  };
}
