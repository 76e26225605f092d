/** Reads the import graph from sources, types included. */
import { dirname, join } from 'node:path';

interface Import {
  readonly from: string;
  readonly to: string;
}

const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)\.js'/g;

/** Relative imports between `files` (path → text); paths as given. */
export function listRelativeImports(files: ReadonlyMap<string, string>): readonly Import[] {
  return [...files].flatMap(([from, text]) =>
    Array.from(text.matchAll(RELATIVE), ([, target]) => ({
      from,
      to: withEnding(join(dirname(from), target!), files),
    })),
  );
}

/** Resolves a path without extension to the existing file. */
const withEnding = (path: string, files: ReadonlyMap<string, string>): string =>
  files.has(`${path}.tsx`) ? `${path}.tsx` : `${path}.ts`;

/** Returns import cycles, one for each entry point; empty without cycles. */
export function findImportCycles(imports: readonly Import[]): readonly string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      return;
    }
    if (done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return circles;
}

const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm;
const NAMED_IMPORT = /(?:import|export)\s+(?:type\s+)?(\*(?:\s+as\s+\w+)?|\{[^}]*\})\s*from\s+'([^']+)'/g;
const DYNAMIC_IMPORT = /\bimport\(\s*'([^']+)'/g;

/**
 * Returns `path: name` for each export that no other file imports by name. Files that are imported as a whole are
 * skipped.
 */
export function findUnusedExports(files: ReadonlyMap<string, string>): readonly string[] {
  const whole = new Set<string>();
  const used = new Set<string>();
  for (const [from, text] of files) {
    for (const [, what, target] of text.matchAll(NAMED_IMPORT)) {
      const path = resolveImport(from, target!, files);
      if (what!.startsWith('*')) whole.add(path);
      else for (const part of what!.slice(1, -1).split(',')) used.add(`${path}: ${importedName(part)}`);
    }
    for (const [, target] of text.matchAll(DYNAMIC_IMPORT)) whole.add(resolveImport(from, target!, files));
  }
  return [...files]
    .filter(([path]) => !whole.has(path) && !path.includes('/generated/') && !path.endsWith('.d.ts'))
    .flatMap(([path, text]) => Array.from(text.matchAll(EXPORT), ([, name]) => `${path}: ${name}`))
    .filter((name) => !used.has(name));
}

/** Of `type a as b` it is `a`. */
const importedName = (part: string): string =>
  part
    .trim()
    .replace(/^type\s+/, '')
    .split(/\s+as\s+/)[0]!;

/** For workspaces that are not at the root. */
const WORKSPACE_FOLDERS: Readonly<Record<string, string>> = { cli: 'controlplane/cli', client: 'controlplane/client' };

/** The source that an import names: relative, or `@acg/<workspace>/<path>`. */
export function resolveImport(from: string, target: string, files: ReadonlyMap<string, string>): string {
  if (target.startsWith('.')) return withEnding(join(dirname(from), target.replace(/\.js$/, '')), files);
  const [, workspace, path] = /^@acg\/([\w-]+)\/(.*)$/.exec(target) ?? [];
  return workspace === undefined ? target : `${WORKSPACE_FOLDERS[workspace] ?? workspace}/src/${path}.ts`;
}
