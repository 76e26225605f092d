/** Builds what data planes talk to: contexts, the watch and the gRPC server; a part of the composition root. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/gateway-service';
import type { Config } from '../config.js';
import { createResolveHandlers } from '../contexts/resolve-token-handlers.js';
import { ContextService } from '../contexts/service.js';
import type { Pools } from '../db/pools.js';
import { GrpcServer } from '../grpc/grpc-server.js';
import type { ConnectionLimits } from '../http/connection-limits.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import type { Vault } from '../vault/vault.js';
import { createWatchHandler } from '../watch/watch-handler.js';
import { type InitialState, WatchHub } from '../watch/watch-hub.js';

interface DataPlaneLinkDependencies {
  readonly config: Config;
  /** Bounds the connections of the gRPC port. */
  readonly connections: ConnectionLimits;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  readonly pools: Pick<Pools, 'feeds' | 'resolve'>;
  /** What a data plane is told when it connects, beside the invalidations. */
  readonly greeting: InitialState;
  /** The calls that other parts answer. */
  readonly handlers: Partial<GatewayHandlers>;
}

interface DataPlaneLink {
  /** Broadcasts to the data planes of this instance. */
  readonly hub: WatchHub;
  start(): Promise<{ port: number }>;
  /** Sends the data planes to other instances, lets calls under way finish. Called before what the handlers use stops. */
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
  const hub = new WatchHub(pools.feeds, log, greeting, (reason) => {
    if (reason === 'went_back') metrics.countDatabaseRewind('revisions');
  });
  const contexts = new ContextService(pools.resolve, catalogue, vault, log);
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
