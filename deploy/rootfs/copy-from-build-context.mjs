// COPY from the build context: the repository without what .dockerignore names.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/**
 * Returns whether .dockerignore excludes a path (relative to the context). Supports names, paths, `*` and a leading
 * `**`.
 */
export function ignored(patterns) {
  const tests = patterns.map((pattern) => {
    const body = pattern
      .replace(/^\*\*\//, '')
      .split('*')
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^/]*');
    return new RegExp(`^${pattern.startsWith('**/') ? '(?:.*/)?' : ''}${body}(?:/|$)`);
  });
  return (path) => tests.some((test) => test.test(path));
}

export function readIgnore(context) {
  const lines = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n');
  const patterns = lines.map((line) => line.trim().replace(/\/$/, '')).filter((line) => line !== '' && line[0] !== '#');
  if (patterns.some((pattern) => pattern.startsWith('!'))) throw new Error('.dockerignore: exceptions are not known');
  return patterns;
}

/** Dockerfile COPY: a folder copies its content; several sources need a target that ends with a slash. */
export function copy({ from, sources, target, isIgnored, chown }) {
  for (const source of sources) {
    const origin = realpathSync(join(from, source));
    if (!existsSync(origin)) throw new Error(`COPY: no ${source}`);
    const isFolder = lstatSync(origin).isDirectory();
    const to = isFolder || !target.endsWith('/') ? target : join(target, basename(source));
    mkdirSync(dirname(to), { recursive: true });
    if (isFolder) mkdirSync(to, { recursive: true });
    const filter = (path) => !isIgnored(relative(from, path));
    cpSync(origin, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter });
    if (chown !== undefined) execFileSync('chown', ['-R', chown, to]);
  }
}
