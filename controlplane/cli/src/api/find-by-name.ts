/** Finds API rows by id, slug or name. */

import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import { CliError, EXIT_CODES, usage } from '../terminal/cli-error.js';
import { fetchAllRows } from './call-api-operation.js';

export const isUuid = (text: string): boolean => UUID_PATTERN_ANY_CASE.test(text);

interface NamedRow {
  readonly id: string;
  readonly name: string;
  readonly slug?: string;
}

/** `list` is the command that shows what there is. */
export const notFoundError = (kind: string, text: string, list: string): CliError =>
  new CliError(EXIT_CODES.notFound, `${kind} not found: ${text}`, { status: 404, hint: list });

/** Selects the one row that `text` identifies: by id, else by slug, else by case-insensitive name. */
export function selectByName<Row extends NamedRow>(
  rows: readonly Row[],
  text: string,
  kind: string,
  list: string,
): Row {
  const wanted = text.toLowerCase();
  const matchers = [
    (row: Row) => row.id === wanted,
    (row: Row) => row.slug === wanted,
    (row: Row) => row.name.toLowerCase() === wanted,
  ];
  for (const matches of matchers) {
    const found = rows.filter(matches);
    if (found.length > 1) {
      throw usage(
        `${found.length} ${kind}s are called ${JSON.stringify(text)}: ${found.map(({ id }) => id).join(', ')}`,
        'use the id',
      );
    }
    if (found[0] !== undefined) return found[0];
  }
  throw notFoundError(kind, text, list);
}

/** Returns the id of the named project. Without a name, returns the only project. */
export async function findProjectId(client: Client, text: string | null): Promise<string> {
  if (text !== null && isUuid(text)) return text;
  const projects = await fetchAllRows(client, 'GET /v1/projects', 'projects');
  if (text !== null) return selectByName(projects, text, 'project', 'acg projects ls').id;
  if (projects.length === 1) return projects[0]!.id;
  throw usage(
    `name the project (there are: ${projects.map(({ slug }) => slug).join(', ') || 'none'})`,
    '--project, or ACG_PROJECT',
  );
}
