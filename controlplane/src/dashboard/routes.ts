/**
 * Serves the dashboard: its page for every address that is no other's, and its files. The page is made anew for each
 * request (nonce), the files are named by what is in them and may be kept for ever.
 */
import { randomBytes } from 'node:crypto';
import serveFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../http/app.js';
import type { DashboardBuild } from './dashboard-build.js';

const NONCE_BYTES = 16;
const buildContentSecurityPolicy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Below them the service answers for itself: what it does not know there is unknown. */
const NON_DASHBOARD_PATHS =
  /^\/(?:v1|docs|status|healthz|readyz|metrics|device|verify-email|reset-password|accept-invitation|assets)(?:[/?]|$)/;

/** Whether a browser asks to be shown something; programs that mistype an address shall get a 404. */
export const isPageRequest = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html') && !NON_DASHBOARD_PATHS.test(url);

export function sendDashboardPage(site: DashboardBuild, reply: FastifyReply, session: boolean): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  void reply.header('content-security-policy', buildContentSecurityPolicy(nonce));
  return reply.type('text/html; charset=utf-8').send(site.renderPage(nonce, session));
}

interface SessionCookieReader {
  /** The secret of the request's cookie; null: it has none. */
  readSecret(request: FastifyRequest): string | null;
}

export function dashboardRoutes(app: App, site: DashboardBuild, sessions: SessionCookieReader): void {
  app.get('/', async (request, reply) => sendDashboardPage(site, reply, sessions.readSecret(request) !== null));
  const files = serveFiles as unknown as (instance: FastifyInstance, options: object) => Promise<void>;
  app.register(async (scope) =>
    files(scope, { root: site.assetsDirectory, prefix: '/assets/', ...STATIC_FILE_OPTIONS }),
  );
}

const STATIC_FILE_OPTIONS = { preCompressed: true, immutable: true, maxAge: '365d', index: false, schemaHide: true };
