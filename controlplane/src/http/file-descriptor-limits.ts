/** How many connections the control plane's ports may take, by the limit of file descriptors of its process. */

/**
 * Never given to clients: 27 connections to Postgres (db/pools.ts), 256 webhook attempts at once, and files, listeners,
 * name lookups, mails and calls to providers.
 */
const RESERVED_DESCRIPTORS = 512;
const API_CONNECTIONS_MAX = 8_192;
const LINK_CONNECTIONS_MAX = 1_024;
const CONNECTIONS_MIN = 64;

interface PortConnectionLimits {
  readonly api: number;
  readonly link: number;
}

/** Three quarters of what is not reserved for the API port, a quarter for the gRPC port. */
export function defaultConnectionLimits(descriptorsMax: number): PortConnectionLimits {
  const room = descriptorsMax - RESERVED_DESCRIPTORS;
  const part = (share: number, max: number): number =>
    Math.max(CONNECTIONS_MIN, Math.min(max, Math.floor(room * share)));
  return { api: part(3 / 4, API_CONNECTIONS_MAX), link: part(1 / 4, LINK_CONNECTIONS_MAX) };
}

/** The soft limit, which Node raises to the hard one when it starts; Infinity without a limit, or where the system does not report it. */
export function descriptorsMax(): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}
