/** Connection limits of the control plane's ports, derived from the file descriptor limit of its process. */

/**
 * Reserved for the process itself: 27 connections to Postgres (db/pools.ts), 256 concurrent webhook attempts, files,
 * listeners, DNS lookups, mails and calls to providers.
 */
const RESERVED_DESCRIPTORS = 512;
const API_CONNECTIONS_MAX = 8_192;
const LINK_CONNECTIONS_MAX = 1_024;
const CONNECTIONS_MIN = 64;

interface PortConnectionLimits {
  readonly api: number;
  readonly link: number;
}

/** The API port gets three quarters of the unreserved descriptors, the gRPC port one quarter. */
export function defaultConnectionLimits(descriptorsMax: number): PortConnectionLimits {
  const available = descriptorsMax - RESERVED_DESCRIPTORS;
  const portLimit = (fraction: number, max: number): number =>
    Math.max(CONNECTIONS_MIN, Math.min(max, Math.floor(available * fraction)));
  return { api: portLimit(3 / 4, API_CONNECTIONS_MAX), link: portLimit(1 / 4, LINK_CONNECTIONS_MAX) };
}

/**
 * The soft limit, which Node raises to the hard limit at start. Infinity if there is no limit or the system does not
 * report it.
 */
export function descriptorsMax(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
