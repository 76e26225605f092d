/** Reads who imports whom out of sources, types included. */
import { dirname, join } from 'node:path';

export interface Import {
  readonly from: string;
  readonly to: string;
}

const RELATIVE = /(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)\.js'/g;

/** Relative imports between `files` (path → text); paths as given. */
export function relativeImports(files: ReadonlyMap<string, string>): readonly Import[] {
  return [...files].flatMap(([from, text]) =>
    Array.from(text.matchAll(RELATIVE), ([, target]) => ({ from, to: join(dirname(from), `${target}.ts`) })),
  );
}

/** Files that import each other in a circle, one circle for each way in; empty when there is none. */
export function importCircles(imports: readonly Import[]): readonly string[] {
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
