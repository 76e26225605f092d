/** Finds members of the organization. */

import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { fetchAllRows } from './call-api-operation.js';
import { isUuid, notFoundError } from './find-by-name.js';

/** Returns the id of the member with that id or e-mail address. */
export async function findMemberId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const members = await fetchAllRows(client, 'GET /v1/members', 'members');
  const found = members.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found.userId;
  throw notFoundError('member', text, 'acg members ls');
}
