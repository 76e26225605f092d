/** Shared credentials by what people call them. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { collected, isId, type PageQuery, pickOne } from './lookup.js';

export type SharedCredential = Awaited<ReturnType<typeof listCredentials>>['credentials'][number];

interface CredentialFilter {
  readonly projectId?: string;
  readonly providerSlug?: string;
  readonly status?: 'active' | 'needs_credentials';
  readonly search?: string;
}

export const listCredentials = (client: Client, query: CredentialFilter & PageQuery) =>
  client.get('/v1/credentials', { params: { query } });

/** The one with that id or name. */
export async function findCredential(client: Client, text: string): Promise<SharedCredential> {
  if (isId(text)) return (await client.get('/v1/credentials/{id}', { params: { path: { id: text } } })).credential;
  const all = await collected(
    everyRow(
      (page) => listCredentials(client, page),
      (page) => page.credentials,
    ),
  );
  return pickOne(all, text, 'credential', 'acg credentials ls');
}
