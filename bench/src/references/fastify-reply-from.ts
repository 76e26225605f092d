/** Reference: Fastify with @fastify/reply-from, no checks at all. `node fastify-reply-from.js PORT PROVIDER_URL`. */
import replyFrom from '@fastify/reply-from';
import Fastify from 'fastify';

const [port, provider] = process.argv.slice(2);
const app = Fastify({ logger: false });
await app.register(replyFrom, { base: provider!, undici: { connections: 128, pipelining: 1 } });
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
app.all('/*', (request, reply) => reply.from(request.url));
await app.listen({ host: '127.0.0.1', port: Number(port) });
