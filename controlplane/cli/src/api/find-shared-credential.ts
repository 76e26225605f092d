/** Finds shared credentials. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { collectRows, isUuid, type PageQuery, selectByName } from './find-by-name.js';

export type SharedCredential = Awaited<ReturnType<typeof listSharedCredentials>>['credentials'][number];

interface CredentialFilter {
  readonly projectId?: string;
  readonly providerSlug?: string;
  readonly status?: 'active' | 'needs_credentials';
  readonly search?: string;
}

export const listSharedCredentials = (client: Client, query: CredentialFilter & PageQuery) =>
  client.get('/v1/credentials', { params: { query } });

/** Returns the shared credential with that id or name. */
export async function findSharedCredential(client: Client, text: string): Promise<SharedCredential> {
  if (isUuid(text)) return (await client.get('/v1/credentials/{id}', { params: { path: { id: text } } })).credential;
  const all = await collectRows(
    iterateAllRows(
      (page) => listSharedCredentials(client, page),
      (page) => page.credentials,
    ),
  );
  return selectByName(all, text, 'credential', 'acg credentials ls');
}
