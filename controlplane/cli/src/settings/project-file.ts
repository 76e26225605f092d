/**
 * Reads `.acg.json` of a working directory: the profile, project and agent to use there. The file is committed and
 * therefore untrusted: it only names things, and can neither contain a token nor decide where one is sent.
 */
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { usage } from '../terminal/cli-error.js';
import { readJsonFile } from './private-file.js';

export const PROJECT_FILE = '.acg.json';
const FIELDS = ['profile', 'project', 'agent'] as const;
export type ProjectFile = { readonly [field in (typeof FIELDS)[number]]?: string };

/** Finds the nearest file from `directory` upwards; files of other users are ignored. */
export function findProjectFile(directory: string, uid: number | undefined): ProjectFile {
  for (let at = directory; ; at = dirname(at)) {
    const path = join(at, PROJECT_FILE);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && (uid === undefined || found.uid === uid || found.uid === 0)) {
      return validateProjectFile(readJsonFile(path), path);
    }
    if (dirname(at) === at) return {};
  }
}

function validateProjectFile(value: unknown, path: string): ProjectFile {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw usage(`${path} must hold an object`);
  for (const [field, content] of Object.entries(value)) {
    if (!FIELDS.some((known) => known === field))
      throw usage(`${path} has the field ${JSON.stringify(field)}: it may have ${FIELDS.join(', ')}`);
    if (typeof content !== 'string' || content === '') throw usage(`${path}: ${field} must be a text`);
  }
  return value as ProjectFile;
}
