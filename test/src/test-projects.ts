/**
 * Assigns each test file to the Vitest project of the heaviest fixture that it imports, directly or not. So no list has
 * to follow when a file is added, renamed or moved.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRelativeImports } from './import-graph.js';

const ROOT = 'test/src';

/** Slow files first: at the end of a run the short files of the last project keep every worker busy. */
export const PROJECTS = ['stack', 'browser', 'api', 'toolchain', 'unit'] as const;
export type ProjectName = (typeof PROJECTS)[number];

/** Fixtures that decide the project; the first match counts. */
const FIXTURES: readonly (readonly [ProjectName, readonly string[]])[] = [
  ['browser', ['dashboard/dashboard-fixture.ts']],
  ['stack', ['fixtures/plane-process.ts', 'singlenode/single-node-process.ts', 'cli/acg-command.ts']],
  ['api', ['fixtures/test-database.ts', 'fixtures/template-cluster.ts']],
];
const TOOLCHAIN_FOLDER = 'deploy/';

/** Test files of `test/src` in each project but `unit`, as paths from the repository's root. */
export function listProjectFiles(): Readonly<Record<Exclude<ProjectName, 'unit'>, string[]>> {
  const paths = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const imports = listRelativeImports(new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')])));
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const collectImports = (path: string, reached: Set<string>): Set<string> => {
    if (reached.has(path)) return reached;
    reached.add(path);
    for (const target of targets.get(path) ?? []) collectImports(target, reached);
    return reached;
  };
  const files: Record<Exclude<ProjectName, 'unit'>, string[]> = { stack: [], browser: [], api: [], toolchain: [] };
  for (const path of paths.filter((path) => path.endsWith('.test.ts'))) {
    const reached = collectImports(path, new Set());
    const [project] =
      FIXTURES.find(([, fixtures]) => fixtures.some((fixture) => reached.has(fixture))) ?? (['unit'] as const);
    if (path.startsWith(TOOLCHAIN_FOLDER)) files.toolchain.push(join(ROOT, path));
    else if (project !== 'unit') files[project].push(join(ROOT, path));
  }
  return files;
}
