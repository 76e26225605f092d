/**
 * Security headers of every response. A route that serves pages (docs, dashboard) sets its own Content-Security-Policy.
 */
import type { FastifyInstance } from 'fastify';

const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const STRICT_TRANSPORT = 'max-age=31536000';

/** `https`: the public URL uses https, so browsers must use only https (HSTS). */
export function addSecurityHeaders(app: FastifyInstance, https: boolean): void {
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
    void reply.header('x-frame-options', 'DENY');
    void reply.header('referrer-policy', 'no-referrer');
    void reply.header('content-security-policy', API_POLICY);
    // Responses contain tokens and tenant data, so no cache may store them. Static files set their own value.
    void reply.header('cache-control', 'no-store');
    void reply.header('x-request-id', request.id);
    if (https) void reply.header('strict-transport-security', STRICT_TRANSPORT);
  });
}
