/**
 * Serves the dashboard: its page for every address that is no other's, and its files. The page is made anew for each
 * request (nonce), the files are named by what is in them and may be kept for ever.
 */
import { randomBytes } from 'node:crypto';
import serveFiles from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../http/app.js';
import type { Site } from './site.js';

const NONCE_BYTES = 16;
const policy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; font-src 'self'; ` +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Below them the service answers for itself: what it does not know there is unknown. */
const OWN =
  /^\/(?:v1|docs|status|healthz|readyz|metrics|device|verify-email|reset-password|accept-invitation|assets)(?:[/?]|$)/;

/** Whether a browser asks to be shown something; programs that mistype an address shall get a 404. */
export const wantsPage = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && (headers.accept ?? '').includes('text/html') && !OWN.test(url);

export function sendPage(site: Site, reply: FastifyReply, session: boolean): FastifyReply {
  const nonce = randomBytes(NONCE_BYTES).toString('base64');
  void reply.header('content-security-policy', policy(nonce));
  return reply.type('text/html; charset=utf-8').send(site.page(nonce, session));
}

interface Sessions {
  /** The secret of the request's cookie; null: it has none. */
  read(request: FastifyRequest): string | null;
}

export function dashboardRoutes(app: App, site: Site, sessions: Sessions): void {
  app.get('/', async (request, reply) => sendPage(site, reply, sessions.read(request) !== null));
  const files = serveFiles as unknown as (instance: FastifyInstance, options: object) => Promise<void>;
  app.register(async (scope) => files(scope, { root: site.assetsDirectory, prefix: '/assets/', ...FILES }));
}

const FILES = { preCompressed: true, immutable: true, maxAge: '365d', index: false, schemaHide: true };
