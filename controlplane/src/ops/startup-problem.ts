/**
 * Describes in one line why the control plane cannot start and what to do (docs/configuration.md#configuration). Never
 * contains a secret.
 */
import { maskSecrets } from '@acg/base/log';
import type { Secret } from '@acg/base/secret';
import { describeDatabaseAddress } from '../db/database-url.js';

const CONNECTION = new Set(
  'ECONNREFUSED ENOTFOUND EAI_AGAIN ETIMEDOUT CONNECT_TIMEOUT EHOSTUNREACH ECONNRESET'.split(' '),
);
const LOGIN = new Set(['28P01', '28000', '3D000']);

export function describeStartupProblem(error: unknown, databaseUrl: Secret): string {
  const { code, message, syscall, hostname } = error as NodeJS.ErrnoException & { hostname?: string };
  const text = maskSecrets(message ?? String(error));
  if (code === 'EADDRINUSE') {
    return `${text}: stop the other process, or set CONTROLPLANE_PORT, GRPC_LISTEN or CONTROLPLANE_METRICS_PORT to a free port`;
  }
  if (syscall === 'listen' || (hostname !== undefined && !databaseUrl.reveal().includes(hostname))) {
    return `${text}: check CONTROLPLANE_HOST, CONTROLPLANE_PORT, GRPC_LISTEN and CONTROLPLANE_METRICS_HOST`;
  }
  if (code !== undefined && CONNECTION.has(code)) {
    return `cannot reach the database at ${describeDatabaseAddress(databaseUrl)} (${code}): check DATABASE_URL and that Postgres runs`;
  }
  if (code !== undefined && LOGIN.has(code)) {
    return `the database at ${describeDatabaseAddress(databaseUrl)} refused the login (${text}): check DATABASE_URL`;
  }
  return text;
}
