// Copies the files that `tsc` does not emit (SQL, Lua, HTML, CSS, client-side JS) from each src/ to its dist/. Deletes
// migrations from dist/ that src/ no longer has: a renumbered migration would run twice.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { placeFile } from './copy-if-changed.mjs';

const ASSET = /\.(sql|lua|html|css|svg|json)$/;
const walk = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

for (const plane of ['base', 'proto', 'dataplane', 'controlplane', 'singlenode', 'test', 'bench']) {
  const source = join(plane, 'src');
  if (!existsSync(source)) continue;
  for (const path of walk(source)) {
    if (!ASSET.test(path)) continue;
    const target = join(plane, 'dist', path.slice(source.length + 1));
    mkdirSync(dirname(target), { recursive: true });
    placeFile(path, target);
  }
  const copies = join(plane, 'dist');
  if (!existsSync(copies)) continue;
  for (const copy of walk(copies)) {
    if (copy.endsWith('.sql') && !existsSync(join(source, copy.slice(copies.length + 1))))
      rmSync(copy, { force: true });
  }
}
