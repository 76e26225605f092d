/** Finds webhook endpoints. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { collectRows, isUuid, type PageQuery } from './find-by-name.js';

export type EventName = Awaited<ReturnType<typeof listWebhooks>>['endpoints'][number]['events'][number];

export const listWebhooks = (client: Client, query: PageQuery) => client.get('/v1/webhooks', { params: { query } });

/** Returns the id of the endpoint with that id or URL. */
export async function findWebhookId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const endpoints = await collectRows(
    iterateAllRows(
      (query) => listWebhooks(client, query),
      (page) => page.endpoints,
    ),
  );
  const found = endpoints.find(({ url }) => url === text);
  if (found !== undefined) return found.id;
  throw new CliError(EXIT_CODES.notFound, `webhook not found: ${text}`, { status: 404, hint: 'acg webhooks ls' });
}
