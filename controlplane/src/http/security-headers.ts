/** Headers of every answer. A route that serves pages (docs, dashboard) sets its own Content-Security-Policy. */
import type { FastifyInstance } from 'fastify';

const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const STRICT_TRANSPORT = 'max-age=31536000';

/** `https`: the public address is https, so browsers may be told to stay there. */
export function addSecurityHeaders(app: FastifyInstance, https: boolean): void {
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-content-type-options', 'nosniff');
    void reply.header('x-frame-options', 'DENY');
    void reply.header('referrer-policy', 'no-referrer');
    void reply.header('content-security-policy', API_POLICY);
    // Answers hold tokens and tenants' data: no cache may keep them. Static files set their own.
    void reply.header('cache-control', 'no-store');
    void reply.header('x-request-id', request.id);
    if (https) void reply.header('strict-transport-security', STRICT_TRANSPORT);
  });
}
