/** Finds members of the organization. */

import { iterateAllRows } from '@acg/client/auto-paging';
import type { Client } from '@acg/client/management-api-client';
import { CliError, EXIT_CODES } from '../terminal/cli-error.js';
import { collectRows, isUuid, type PageQuery } from './find-by-name.js';

/** Returns the id of the member with that id or e-mail address. */
export async function findMemberId(client: Client, text: string): Promise<string> {
  if (isUuid(text)) return text;
  const load = (page: PageQuery) => client.get('/v1/members', { params: { query: page } });
  const members = await collectRows(iterateAllRows(load, (page) => page.members));
  const found = members.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found.userId;
  throw new CliError(EXIT_CODES.notFound, `member not found: ${text}`, { status: 404, hint: 'acg members ls' });
}
