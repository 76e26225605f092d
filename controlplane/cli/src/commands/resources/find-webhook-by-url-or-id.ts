/** The webhook endpoint that a command names by its URL or id, and the names of events. */

import { type BodyOf, fetchAllRows } from '../../api/call-api-operation.js';
import { isUuid, notFoundError } from '../../api/find-by-name.js';
import { usage } from '../../terminal/cli-error.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';

export type EventName = BodyOf<'POST /v1/webhooks'>['events'][number];

export const WEBHOOK: Target = {
  argument: ['<webhook>', 'URL or id'],
  async find(run, text) {
    if (isUuid(text)) return { id: text };
    const endpoints = await fetchAllRows(await run.getClient(), 'GET /v1/webhooks', 'endpoints');
    const found = endpoints.filter(({ url }) => url === text);
    if (found[0] === undefined) throw notFoundError('webhook', text, 'acg webhooks ls');
    if (found.length > 1)
      throw usage(`${found.length} webhooks have this URL: ${found.map(({ id }) => id).join(', ')}`, 'use the id');
    return found[0];
  },
};
