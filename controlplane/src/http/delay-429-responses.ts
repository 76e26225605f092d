/**
 * Tarpit: delays each 429 of an authenticated request by 1 s, so that clients that retry at once occupy their own
 * connections. Nothing else waits: install it after everything that holds a resource of the request until its response,
 * such as slots and transactions.
 */
import type { FastifyInstance } from 'fastify';
import { HTTP_STATUS_BY_ERROR_CODE } from './error-statuses.js';

const TARPIT_DELAY_MS = 1_000;

export class TooManyRequestsDelay {
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
