/** Builds the module that serves data planes: contexts, the watch and the gRPC server. Part of the composition root. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { Config } from '../config.js';
import { createResolveHandlers } from '../contexts/resolve-token-handlers.js';
import { TokenResolutionService } from '../contexts/token-resolution-service.js';
import type { Pools } from '../db/pools.js';
import { GrpcServer } from '../grpc/grpc-server.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/aes-gcm-vault.js';
import { DataPlaneWatchStreams, type InitialState } from '../watch/data-plane-watch-streams.js';
import { createWatchHandler } from '../watch/watch-handler.js';

interface DataPlaneLinkDependencies {
  readonly config: Config;
  /** Limits the connections to the gRPC port. */
  readonly connections: ConnectionLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  readonly pools: Pick<Pools, 'feeds' | 'resolve'>;
  /** The state that a data plane gets when it connects, beside the invalidations. */
  readonly greeting: InitialState;
  /** gRPC handlers of other modules. */
  readonly handlers: Partial<GatewayHandlers>;
}

interface DataPlaneLink {
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
  pools,
  greeting,
  handlers,
}: DataPlaneLinkDependencies): DataPlaneLink {
  const hub = new DataPlaneWatchStreams(pools.feeds, log, greeting, (reason) => {
    if (reason === 'went_back') metrics.countDatabaseRewind('revisions');
  });
  const contexts = new TokenResolutionService(pools.resolve, catalogue, vault, log);
  metrics.addGauge('gateway_control_data_planes', 'Data planes connected to this instance.', () => hub.size);
  const server = new GrpcServer(
    config.link,
    { ...handlers, ...createResolveHandlers(contexts, log), watch: createWatchHandler(hub, log) },
    log,
    connections,
  );
  return {
    hub,
    async start() {
      await hub.start();
      return server.start(config.grpcListen);
    },
    async stop() {
      await hub.stop();
      await server.stop(STOP_GRACE_MS);
    },
  };
}
