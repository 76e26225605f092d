/** People of the organization by what they are called. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { EXIT, Failure } from '../terminal/failure.js';
import { collected, isId, type PageQuery } from './lookup.js';

/** The id of the one with that id or e-mail address. */
export async function findMember(client: Client, text: string): Promise<string> {
  if (isId(text)) return text;
  const load = (page: PageQuery) => client.get('/v1/members', { params: { query: page } });
  const members = await collected(everyRow(load, (page) => page.members));
  const found = members.find(({ email }) => email.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found.userId;
  throw new Failure(EXIT.notFound, `member not found: ${text}`, { status: 404, hint: 'acg members ls' });
}
