/**
 * A mutant for every place in the control plane's SQL where rows are held to one organization: the condition is made
 * true for all. Found in the sources, so that a new statement cannot be forgotten.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area, Mutant } from './mutant.js';

const FILTER = /(?:\b\w+\.)?\borg_id = (?:\$\{(?:[^{}]|\{[^}]*\})+\}|\w+\.org_id\b)/g;
const CONTEXT_LINES_MAX = 6;

/** `files`: paths of the control plane's sources. */
export function organizationFilters(root: string, files: readonly string[], equivalents: Equivalents): Area {
  const mutants = files.flatMap((file) => filtersOf(file, readFileSync(join(root, file), 'utf8'), equivalents));
  return {
    name: 'organization filters',
    tests: [
      'test/src/controlplane/second-tenant.test.ts',
      'test/src/controlplane/full-neighbour.test.ts',
      'test/src/controlplane/access.test.ts',
    ],
    built: false,
    mutants,
  };
}

/** `file: text of the condition's line` → why leaving it out changes nothing that anybody sees. */
export type Equivalents = Readonly<Record<string, string>>;

function filtersOf(file: string, source: string, equivalents: Equivalents): readonly Mutant[] {
  const mutants: Mutant[] = [];
  for (const match of source.matchAll(FILTER)) {
    if (/(?:\bset|,)\s+$/.test(source.slice(0, match.index))) continue; // an assignment
    const around = uniqueAround(source, match.index, match.index + match[0].length);
    if (around === null) continue;
    const [from, to] = around;
    const line = source.slice(source.lastIndexOf('\n', match.index) + 1, match.index + match[0].length).trim();
    const equivalent = equivalents[`${file}: ${line}`];
    mutants.push({
      file,
      find: source.slice(from, to),
      put: `${source.slice(from, match.index)}(${match[0]} or true)${source.slice(match.index + match[0].length, to)}`,
      bug: `no organization filter: ${line}`,
      ...(equivalent === undefined ? {} : { equivalent }),
    });
  }
  return mutants;
}

/** The smallest run of whole lines around the place that stands in the source once. */
function uniqueAround(source: string, start: number, end: number): readonly [number, number] | null {
  let from = source.lastIndexOf('\n', start - 1) + 1;
  for (let lines = 0; lines < CONTEXT_LINES_MAX; lines++) {
    const text = source.slice(from, end);
    if (source.indexOf(text) === source.lastIndexOf(text)) return [from, end];
    from = source.lastIndexOf('\n', from - 2) + 1;
  }
  return null;
}
