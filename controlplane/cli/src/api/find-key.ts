/** Finds gateway tokens by id, prefix or name. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { collectRows, isUuid, type PageQuery, selectByName } from './find-by-name.js';

/** Returns the id of the gateway token with that id, prefix or name. `agentId` null searches all agents. */
export async function findKeyId(client: Client, text: string, agentId: string | null): Promise<string> {
  if (isUuid(text)) return text;
  const within = agentId === null ? {} : { agentId };
  const load = (page: PageQuery) => client.get('/v1/api-keys', { params: { query: { ...within, ...page } } });
  const keys = await collectRows(iterateAllRows(load, (page) => page.keys));
  const prefix = text.startsWith('acg_') ? text : `acg_${text}`;
  const byPrefix = keys.find(({ keyPrefix }) => keyPrefix === prefix);
  return byPrefix?.id ?? selectByName(keys, text, 'key', 'acg keys ls').id;
}
