/** The webhook endpoint that a command names by its URL or id, and the names of events. */

import { type BodyOf, fetchAllRows } from '../../api/call-api-operation.js';
import { isUuid, notFoundError } from '../../api/find-by-name.js';
import type { Target } from '../descriptors/operation-target-from-arguments.js';

export type EventName = BodyOf<'POST /v1/webhooks'>['events'][number];

export const WEBHOOK: Target = {
  argument: ['<webhook>', 'URL or id'],
  async find(run, text) {
    if (isUuid(text)) return { id: text };
    const endpoints = await fetchAllRows(await run.getClient(), 'GET /v1/webhooks', 'endpoints');
    const found = endpoints.find(({ url }) => url === text);
    if (found === undefined) throw notFoundError('webhook', text, 'acg webhooks ls');
    return found;
  },
};
