/**
 * Who asks for too much is told so late: who comes back at once waits with each of its connections. Nothing else waits: it
 * is installed after all that holds something for a call until its answer, such as places and transactions.
 */
import type { FastifyInstance } from 'fastify';
import { HTTP_STATUS_BY_ERROR_CODE } from './error-statuses.js';

const TARPIT_DELAY_MS = 1_000;

export class Tarpit {
  install(app: FastifyInstance): void {
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode === HTTP_STATUS_BY_ERROR_CODE.too_many_attempts && request.actor !== undefined)
        await this.delay();
    });
  }

  delay(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, TARPIT_DELAY_MS));
  }
}
