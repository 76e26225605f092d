/**
 * Who asks for too much is told so late: who comes back at once waits with each of its connections. Nothing else waits: it
 * is installed after all that holds something for a call until its answer, such as places and transactions.
 */
import type { FastifyInstance } from 'fastify';
import { STATUS_OF } from './error-map.js';

const LATE_MS = 1_000;

export class LateRefusals {
  install(app: FastifyInstance): void {
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode === STATUS_OF.too_many_attempts && request.actor !== undefined) await this.wait();
    });
  }

  wait(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, LATE_MS));
  }
}
