/** Rows of the API by what people call them: a name, a slug or an id. */

import { UUID_ANY_CASE } from '@acg/base/uuid';
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import { EXIT, Failure, usage } from '../terminal/failure.js';

export const isId = (text: string): boolean => UUID_ANY_CASE.test(text);

interface Named {
  readonly id: string;
  readonly name: string;
  readonly slug?: string;
}

/** The one row meant by `text`: its id, else its slug, else its name in any case. */
export function pickOne<Row extends Named>(rows: readonly Row[], text: string, kind: string, list: string): Row {
  const wanted = text.toLowerCase();
  const ways = [
    (row: Row) => row.id === wanted,
    (row: Row) => row.slug === wanted,
    (row: Row) => row.name.toLowerCase() === wanted,
  ];
  for (const way of ways) {
    const found = rows.filter(way);
    if (found.length > 1) {
      throw usage(
        `${found.length} ${kind}s are called ${JSON.stringify(text)}: ${found.map(({ id }) => id).join(', ')}`,
        'use the id',
      );
    }
    if (found[0] !== undefined) return found[0];
  }
  throw new Failure(EXIT.notFound, `${kind} not found: ${text}`, { status: 404, hint: list });
}

interface Project extends Named {
  readonly slug: string;
}

/** The query of one page, as `everyRow` asks for it. */
export interface PageQuery {
  readonly limit: number;
  readonly offset: number;
}

export async function collected<Row>(rows: AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const allProjects = (client: Client): Promise<Project[]> =>
  collected(
    everyRow(
      (query) => client.get('/v1/projects', { params: { query } }),
      ({ projects }) => projects,
    ),
  );

/** The id of the project that is called so; of the only one where none is named. */
export async function findProject(client: Client, text: string | null): Promise<string> {
  if (text !== null && isId(text)) return text;
  const projects = await allProjects(client);
  if (text !== null) return pickOne(projects, text, 'project', 'acg projects ls').id;
  if (projects.length === 1) return projects[0]!.id;
  throw usage(
    `which project: ${projects.map(({ slug }) => slug).join(', ') || 'there is none'}?`,
    '--project, or ACG_PROJECT',
  );
}
