/** The compressed size of what a browser loads, summed over the build's manifest. */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const site = fileURLToPath(new URL('../../../controlplane/dashboard/dist/site', import.meta.url));
const KB = 1_024;
const INITIAL_MAX = 160 * KB;
const SCREEN_MAX = 45 * KB;
const STYLES_MAX = 35 * KB;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}
const chunks = JSON.parse(readFileSync(join(site, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
const sizeOf = (file: string): number => readFileSync(join(site, `${file}.gz`)).length;

/** A chunk with all its static imports. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const other of chunks[name]!.imports ?? []) withImports(other, found);
  return found;
}

const entry = Object.keys(chunks).find((name) => chunks[name]!.isEntry === true)!;
const initial = withImports(entry);
/** The header's menus are loaded with every screen. */
const frame = withImports('src/shell/header-actions.tsx', new Set(initial));
const sum = (names: Iterable<string>): number =>
  [...names].reduce((total, name) => total + sizeOf(chunks[name]!.file), 0);

test('loads at most 160 KB of scripts first', () => {
  expect(sum(initial)).toBeGreaterThan(50 * KB); // the manifest was parsed correctly
  expect(sum(initial)).toBeLessThanOrEqual(INITIAL_MAX);
});

/** What has been loaded before: the frame, and for a dialog what all screens that open it have in common. */
function loadedBefore(name: string): ReadonlySet<string> {
  if (frame.has(name)) return initial;
  const openers = Object.keys(chunks).filter((other) => chunks[other]!.dynamicImports?.includes(name));
  const loaded = openers.map((opener) => withImports(opener, new Set(frame)));
  return new Set([...loaded[0]!].filter((other) => loaded.every((one) => one.has(other))));
}

test('adds at most 45 KB per screen', () => {
  const lazy = Object.keys(chunks).filter((name) => chunks[name]!.isDynamicEntry === true);
  expect(lazy.length).toBeGreaterThan(3);
  const large = lazy
    .map((name) => [name, sum([...withImports(name)].filter((other) => !loadedBefore(name).has(other)))] as const)
    .filter(([, size]) => size > SCREEN_MAX);
  expect(large).toEqual([]);
});

test('keeps all styles together within 35 KB', () => {
  const styles = readdirSync(join(site, 'assets')).filter((name) => name.endsWith('.css'));
  expect(styles.length).toBeGreaterThan(0);
  expect(styles.reduce((total, name) => total + sizeOf(`assets/${name}`), 0)).toBeLessThanOrEqual(STYLES_MAX);
});

/** Names of the UI library's style modules, `m_` and a hash. */
const styleClasses = (text: string): Set<string> => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));
const assets = (suffix: string): string =>
  readdirSync(join(site, 'assets'))
    .filter((name) => name.endsWith(suffix))
    .map((name) => readFileSync(join(site, 'assets', name), 'utf8'))
    .join('\n');

test('has the styles of every component of the UI library that the scripts use', () => {
  const all = styleClasses(readFileSync(createRequire(import.meta.url).resolve('@mantine/core/styles.css'), 'utf8'));
  const used = [...styleClasses(assets('.js'))].filter((name) => all.has(name));
  expect(used.length).toBeGreaterThan(100);
  const present = styleClasses(assets('.css'));
  // To correct it: add the component to src/theme/mantine-styles.css.
  expect(used.filter((name) => !present.has(name))).toEqual([]);
});
