/**
 * Assigns each test file to the Vitest project of the heaviest fixture that it imports, directly or not. So no list has
 * to follow when a file is added, renamed or moved. A file that changes its process (V8 flags, prototypes) says
 * `@isolated` with the reason in a comment.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listRelativeImports } from './import-graph.js';

/** Slow files first: at the end of a run the short files of the last project keep every worker busy. */
export const PROJECTS = ['stack', 'browser', 'api', 'toolchain', 'isolated', 'unit'] as const;
export type ProjectName = (typeof PROJECTS)[number];

/** What decides the project: a fixture, or the text of a file; the first match counts. */
const SIGNS: readonly (readonly [ProjectName, RegExp])[] = [
  ['toolchain', /^test\/src\/deploy\/.*\.test\.ts$/],
  ['browser', /^test\/src\/dashboard\/dashboard-fixture\.ts$/],
  ['stack', /^test\/src\/(fixtures\/plane-process|singlenode\/single-node-process|cli\/acg-command)\.ts$/],
  ['api', /\binject\('databaseServerUrl'\)/],
  ['isolated', /@isolated: /],
];

/** Paths of the test files of each project, relative like `folders`, the source folders of the workspaces. */
export function listProjectFiles(folders: readonly string[]): Readonly<Record<ProjectName, string[]>> {
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  );
  const files = new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]));
  const targets = new Map<string, string[]>();
  for (const { from, to } of listRelativeImports(files)) targets.set(from, [...(targets.get(from) ?? []), to]);
  const collectImports = (path: string, reached: Set<string>): Set<string> => {
    if (reached.has(path)) return reached;
    reached.add(path);
    for (const target of targets.get(path) ?? []) collectImports(target, reached);
    return reached;
  };
  const projects: Record<ProjectName, string[]> = {
    stack: [],
    browser: [],
    api: [],
    toolchain: [],
    isolated: [],
    unit: [],
  };
  for (const test of paths.filter((path) => path.endsWith('.test.ts'))) {
    const reached = [...collectImports(test, new Set())];
    const sign = SIGNS.find(([, sign]) => reached.some((path) => sign.test(path) || sign.test(files.get(path) ?? '')));
    projects[sign?.[0] ?? 'unit'].push(test);
  }
  return projects;
}
