/** Adapts the dialer to undici's `connect` interface. */
import { Agent, type buildConnector } from 'undici';
import { effectivePort, normalizeHostname } from '../egress/check-tenant-url.js';
import type { Dialer } from './dialer.js';

type Connector = buildConnector.connector;

/**
 * Returns undici's `connect` function for addresses that the organization `tenant` configured; null: the operator's
 * own.
 */
export function createUndiciConnector(dialer: Pick<Dialer, 'dial'>, tenant: string | null): Connector {
  return ({ hostname, protocol, port }, callback) => {
    const target = { protocol, hostname: normalizeHostname(hostname), port: effectivePort(protocol, port), tenant };
    dialer.dial(target, null, (error, socket) => {
      if (error === null) callback(null, socket!);
      else callback(error, null);
    });
  };
}

/** Returns an undici agent whose connections the dialer opens. `agentOptions` are undici's own (timeouts, sizes). */
export function createUndiciAgent(
  dialer: Dialer,
  tenant: string,
  agentOptions: Omit<Agent.Options, 'connect'> = {},
): Agent {
  return new Agent({ ...agentOptions, connect: createUndiciConnector(dialer, tenant) });
}
