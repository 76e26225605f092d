/**
 * Reads the provider files of the repository and of `PROVIDERS_DIR`. Any problem stops the start: a {@link ConfigError}
 * names every one with path and line.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@acg/base/env-reader';
import { listLibraryModels } from '@acg/base/pricing/genai-prices-adapter';
import { BUILTIN_PRICED_MODELS } from '@acg/base/pricing/price-library-corrections';
import type { Problem } from './definition-problem.js';
import { type HostPattern, hostPatternsOverlap, listHostPatterns } from './host-claims.js';
import { findMemberLines, findSyntaxErrorLine } from './json-member-lines.js';
import { parseCredentials } from './parse-credentials.js';
import { findFileProblems } from './parse-definition.js';
import type { ProviderFile } from './provider-definition.js';

/** The files that the repository ships; the same path from `src/` and from `dist/`. */
export const BUILT_IN_DIRECTORY = fileURLToPath(new URL('../../../providers', import.meta.url));
const SCHEMA_FILE = 'provider.schema.json';

/** In the order of the lists: the first providers of the gateway, then the others by name. */
const FIRST_SLUGS = ['openai', 'anthropic', 'supabase', 'vercel', 'resend', 's3'];

interface ReadFile {
  readonly path: string;
  readonly definition: ProviderFile;
  lineOf(pointer: string): number;
}

interface ReadDirectory {
  readonly files: readonly ReadFile[];
  readonly problems: readonly string[];
}

/** Read once per process; null: not yet. */
let builtIn: ReadDirectory | null = null;

function readDirectory(directory: string): ReadDirectory {
  const problems: string[] = [];
  const files = listFiles(directory, problems).flatMap((path) => readProviderFile(path, problems) ?? []);
  return { files, problems };
}

/** `operatorDirectory`: null for none. */
export function loadProviderFiles(operatorDirectory: string | null): readonly ProviderFile[] {
  builtIn ??= readDirectory(BUILT_IN_DIRECTORY);
  const read = [builtIn, ...(operatorDirectory === null ? [] : [readDirectory(operatorDirectory)])];
  const files = read.flatMap((directory) => directory.files);
  const problems = [...read.flatMap((directory) => directory.problems), ...findConflicts(files)];
  if (problems.length > 0) throw new ConfigError(problems);
  return files
    .map(({ definition }) => definition)
    .sort((one, other) => rank(one) - rank(other) || compareNames(one, other));
}

const rank = ({ slug }: ProviderFile): number => {
  const at = FIRST_SLUGS.indexOf(slug);
  return at === -1 ? FIRST_SLUGS.length : at;
};
const compareNames = (one: ProviderFile, other: ProviderFile): number =>
  one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1;

function listFiles(directory: string, problems: string[]): string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.json') && name !== SCHEMA_FILE)
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    problems.push(`PROVIDERS_DIR: ${(error as Error).message}`);
    return [];
  }
}

/** Null: the file has problems, which were added. */
function readProviderFile(path: string, problems: string[]): ReadFile | null {
  const fail = (line: number, message: string): null => {
    problems.push(`${path}:${line}: ${message}`);
    return null;
  };
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return fail(1, (error as Error).message);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return fail(findSyntaxErrorLine(text, error as Error), (error as Error).message);
  }
  const { lines, duplicates } = findMemberLines(text);
  const lineOf = (pointer: string): number => {
    let at = pointer;
    while (!lines.has(at)) at = at.slice(0, at.lastIndexOf('/'));
    return lines.get(at)!;
  };
  if (duplicates.length > 0) return fail(lineOf(duplicates[0]!), `${duplicates[0]!.slice(1)} is named twice`);
  const found = findFileProblems(document);
  const definition = document as ProviderFile;
  if (found.length === 0) found.push(...checkFile(path, definition));
  for (const { pointer, message } of found) fail(lineOf(pointer), message);
  return found.length > 0 ? null : { path, definition, lineOf };
}

/** Rules of files only. */
function checkFile(path: string, definition: ProviderFile): Problem[] {
  const problems: Problem[] = [];
  const { slug, sensitive = [], presets = [], prices, tests, reviewed } = definition;
  if (basename(path) !== `${slug}.json`)
    problems.push({ pointer: '/slug', message: 'slug must be the name of the file' });
  if ((sensitive.length === 0) !== (reviewed.withoutSensitive !== undefined)) {
    const message = 'sensitive must list the calls, or reviewed.withoutSensitive say why there are none';
    problems.push({ pointer: '/sensitive', message });
  }
  for (const [i, { scopes, source }] of presets.entries()) {
    if (scopes !== undefined && source === undefined)
      problems.push({ pointer: `/presets/${i}`, message: `presets.${i} needs a source for its scopes` });
  }
  if (prices !== undefined && !isPriceProvider(prices)) {
    const message = `prices: the price library has no provider ${JSON.stringify(prices)}`;
    problems.push({ pointer: '/prices', message });
  }
  try {
    parseCredentials(definition, tests.credentials);
  } catch (error) {
    problems.push({ pointer: '/tests/credentials', message: `tests.credentials: ${(error as Error).message}` });
  }
  return problems;
}

/** Calls of an unknown provider would be free. */
const isPriceProvider = (id: string): boolean =>
  listLibraryModels({ providerId: id }).length > 0 || BUILTIN_PRICED_MODELS.some(({ provider }) => provider === id);

function findConflicts(files: readonly ReadFile[]): string[] {
  const problems: string[] = [];
  const claims: { readonly pattern: HostPattern; readonly file: ReadFile }[] = [];
  for (const [i, file] of files.entries()) {
    const twin = files.slice(0, i).find(({ definition }) => definition.slug === file.definition.slug);
    if (twin !== undefined)
      problems.push(`${file.path}:${file.lineOf('/slug')}: slug ${file.definition.slug} belongs to ${twin.path}`);
    for (const pattern of listHostPatterns(file.definition)) {
      const owner = claims.find((claim) => claim.file !== file && hostPatternsOverlap(claim.pattern, pattern));
      if (owner !== undefined && twin === undefined)
        problems.push(`${file.path}:${file.lineOf('/origins')}: host ${pattern} belongs to ${owner.file.path}`);
      claims.push({ pattern, file });
    }
  }
  return problems;
}
