/** Gateway tokens by what people know of them. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { collected, isId, type PageQuery, pickOne } from './lookup.js';

/** The id of the key with that id, prefix or name; `agentId` null: of any agent. */
export async function findKey(client: Client, text: string, agentId: string | null): Promise<string> {
  if (isId(text)) return text;
  const within = agentId === null ? {} : { agentId };
  const load = (page: PageQuery) => client.get('/v1/api-keys', { params: { query: { ...within, ...page } } });
  const keys = await collected(everyRow(load, (page) => page.keys));
  const prefix = text.startsWith('acg_') ? text : `acg_${text}`;
  const byPrefix = keys.find(({ keyPrefix }) => keyPrefix === prefix);
  return byPrefix?.id ?? pickOne(keys, text, 'key', 'acg keys ls').id;
}
