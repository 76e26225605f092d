/** Builds what data planes talk to: contexts, the watch and the gRPC server; a part of the composition root. */
import type { Logger } from '@acg/base/log';
import type { GatewayHandlers } from '@acg/proto/service';
import type { Vault } from '../accounts/vault.js';
import type { Config } from '../config.js';
import { resolveTokenHandler } from '../contexts/resolve-token-handler.js';
import { ContextService } from '../contexts/service.js';
import { openSql } from '../db/sql.js';
import { GrpcServer } from '../grpc/server.js';
import type { Metrics } from '../ops/metrics.js';
import type { Catalogue } from '../providers/catalogue/catalogue.js';
import { watchHandler } from '../watch/watch-handler.js';
import { type Greeting, WatchHub } from '../watch/watch-hub.js';

interface LinkParts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
  readonly vault: Vault;
  /** What a data plane is told when it connects, beside the invalidations. */
  readonly greeting: Greeting;
  /** The calls that other parts answer. */
  readonly handlers: Partial<GatewayHandlers>;
}

interface Link {
  /** Broadcasts to the data planes of this instance. */
  readonly hub: WatchHub;
  start(): Promise<{ port: number }>;
  /** Sends the data planes to other instances, lets calls under way finish. Called before what the handlers use stops. */
  stop(): Promise<void>;
}

const STOP_GRACE_MS = 5_000;
/** Apart from the management API's, so that no report over millions of rows makes agents wait or a revocation late. */
const SQL_CONNECTIONS_MAX = 4;

export function buildLink({ config, log, metrics, catalogue, vault, greeting, handlers }: LinkParts): Link {
  const sql = openSql(config.databaseUrl, { connectionsMax: SQL_CONNECTIONS_MAX, applicationName: 'acg-link' });
  const hub = new WatchHub(sql, log, greeting);
  const contexts = new ContextService(sql, catalogue, vault, log);
  metrics.gauge('gateway_control_data_planes', 'Data planes connected to this instance.', () => hub.size);
  const server = new GrpcServer(
    config.link,
    { ...handlers, resolveToken: resolveTokenHandler(contexts, log), watch: watchHandler(hub, log) },
    log,
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
      await sql.end({ timeout: 5 });
    },
  };
}
