/**
 * Builds the connection limits of the two ports that unauthenticated clients can reach. Part of the composition root.
 */

import { toClientNetworkKey } from '@acg/base/client-network-key';
import { CidrList } from '@acg/base/egress/cidr-list';
import type { Logger } from '@acg/base/log';
import type { Config } from '../config.js';
import { ConnectionLimits, type ConnectionRejection, FIRST_BYTE_TIMEOUT_MS } from '../http/connection-limits.js';
import type { Metrics } from '../ops/metrics.js';

const LOOPBACK = ['127.0.0.0/8', '::1'];

interface PortConnectionLimits {
  readonly api: ConnectionLimits;
  readonly grpc: ConnectionLimits;
}

export function buildConnectionLimits(config: Config, log: Logger, metrics: Metrics): PortConnectionLimits {
  const exempt = new CidrList([...LOOPBACK, ...config.trustedProxyCidrs]);
  const rejected = metrics.addCounter(
    'gateway_control_connections_rejected_total',
    'Rejected connections by reason: limit of the port (total), limit of the client network (network), no first byte in time (idle).',
    'reason',
    ['api_total', 'api_network', 'api_idle', 'grpc_total', 'grpc_network', 'grpc_idle'] as const,
  );
  const createLimits = (port: 'api' | 'grpc', name: string): ConnectionLimits =>
    new ConnectionLimits({
      port: name,
      connectionsMax: config.connections[port].max,
      perNetworkMax: config.connections[port].perAddressMax,
      firstByteTimeoutMs: FIRST_BYTE_TIMEOUT_MS,
      networkOf: toClientNetworkKey,
      isExempt: (address) => exempt.includes(address),
      onReject: (reason: ConnectionRejection) => rejected(`${port}_${reason}`),
      log,
    });
  const ports = { api: createLimits('api', 'the API port'), grpc: createLimits('grpc', 'the gRPC port') };
  metrics.addGauge('gateway_control_connections', 'Open connections to the API port.', () => ports.api.openConnections);
  metrics.addGauge(
    'gateway_control_grpc_connections',
    'Open connections to the gRPC port.',
    () => ports.grpc.openConnections,
  );
  const { api, grpc } = config.connections;
  metrics.addGauge('gateway_control_connections_max', 'Bound of gateway_control_connections.', () => api.max);
  metrics.addGauge(
    'gateway_control_grpc_connections_max',
    'Bound of gateway_control_grpc_connections.',
    () => grpc.max,
  );
  return ports;
}
