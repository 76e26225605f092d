/**
 * Serves the dashboard: its page for every path that no other route uses, and its assets. The page is rendered for each
 * request, because it holds a nonce. Asset names contain a hash of their content, so browsers may cache them forever.
 */
import { randomBytes } from 'node:crypto';
import serveFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../http/app.js';
import type { DashboardBuild } from './load-dashboard-build.js';

const NONCE_BYTES = 16;
const buildContentSecurityPolicy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Unknown paths below these are 404: they belong to the service, not to the dashboard. */
const NON_DASHBOARD_PATHS =
  /^\/(?:v1|docs|status|healthz|readyz|metrics|device|verify-email|reset-password|accept-invitation|assets)(?:[/?]|$)/;

/** Whether a browser requests a page. Programs that mistype a path shall get a 404. */
export const isPageRequest = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html') && !NON_DASHBOARD_PATHS.test(url);

export function sendDashboardPage(site: DashboardBuild, reply: FastifyReply, session: boolean): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  void reply.header('content-security-policy', buildContentSecurityPolicy(nonce));
  return reply.type('text/html; charset=utf-8').send(site.renderPage(nonce, session));
}

interface SessionCookieReader {
  /** The secret of the request's session cookie; null without one. */
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
