/** Endpoints of webhooks by what people call them. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { EXIT, Failure } from '../terminal/failure.js';
import { collected, isId, type PageQuery } from './lookup.js';

export type EventName = Awaited<ReturnType<typeof listEndpoints>>['endpoints'][number]['events'][number];

export const listEndpoints = (client: Client, query: PageQuery) => client.get('/v1/webhooks', { params: { query } });

/** The id of the one with that id or URL. */
export async function findEndpoint(client: Client, text: string): Promise<string> {
  if (isId(text)) return text;
  const endpoints = await collected(
    everyRow(
      (query) => listEndpoints(client, query),
      (page) => page.endpoints,
    ),
  );
  const found = endpoints.find(({ url }) => url === text);
  if (found !== undefined) return found.id;
  throw new Failure(EXIT.notFound, `webhook not found: ${text}`, { status: 404, hint: 'acg webhooks ls' });
}
