/** The pages name every variable, command and endpoint that there is, and none that is not there. */
import { readdirSync, readFileSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import { loadConfig as loadControlPlane } from '@acg/controlplane/config';
import { loadConfig as loadDataPlane } from '@acg/dataplane/config';
import { expect, test } from 'vitest';
import { COMMAND_GROUPS } from '../../controlplane/cli/src/commands/registry.js';

const ROOT = new URL('../../', import.meta.url);
const CLI = 'controlplane/cli/src/';
const text = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const matches = (source: string, pattern: RegExp): string[] => [...source.matchAll(pattern)].map(([, found]) => found!);
const sorted = (names: Iterable<string>): string[] => [...new Set(names)].sort();
/** Returns the code spans in the first column of a table, with the next cell. */
const tableRows = (page: string): readonly (readonly [names: string[], next: string])[] =>
  [...page.matchAll(/^\| (`[^|]*) \| ([^|]*)/gm)].map(([, names, next]) => [
    matches(names!, /`([^`]*)`/g),
    next!.trim(),
  ]);

/** Returns the variables that are read when none is set and when each is set. */
function listVariables(load: (env: NodeJS.ProcessEnv) => unknown): string[] {
  const names = new Set<string>();
  for (const value of [undefined, 'http://127.0.0.1:1']) {
    const get = (_: unknown, name: string | symbol) => {
      names.add(String(name));
      return value;
    };
    expect(() => load(new Proxy<NodeJS.ProcessEnv>({}, { get }))).toThrow(ConfigError);
  }
  return [...names];
}

test('docs/configuration.md has the variables of each plane', () => {
  const read = [
    ...listVariables(loadControlPlane).map((name) => `control ${name}`),
    ...listVariables(loadDataPlane).map((name) => `data ${name}`),
  ];
  const documented = tableRows(text('docs/configuration.md')).flatMap(([names, plane]) =>
    names.flatMap((name) => (plane === 'both' ? ['control', 'data'] : [plane]).map((one) => `${one} ${name}`)),
  );
  expect(sorted(documented)).toEqual(sorted(read));
});

test('docs/cli.md lists the variables and the commands of the command line', () => {
  const page = text('docs/cli.md');
  const sources = readdirSync(new URL(CLI, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => text(CLI + path));
  const VARIABLE = /\b(ACG_[A-Z]+(?:_[A-Z]+)*)\b(?!_)/g;
  // `ACG_{PROVIDER}_BASE_URL` is named once for all providers; their remarks name their own.
  const ownNames = (source: string) => sorted(matches(source, VARIABLE).filter((name) => !name.endsWith('_BASE_URL')));
  expect(ownNames(page)).toEqual(ownNames(sources.join('\n')));

  const [, table = ''] = /^## Commands\n([\s\S]*?)^## /m.exec(page) ?? [];
  const shown = Object.entries(COMMAND_GROUPS).flatMap(([name, { topic }]) => (topic === null ? [] : [name]));
  expect(sorted(tableRows(table).flatMap(([names]) => names))).toEqual(sorted(shown));
});

/** Of the data plane, of the providers, of a collector; and the document itself. */
const ELSEWHERE = /^\/v1\/(?:proxy|self|chat|models|responses|messages|traces|openapi|tcp_warming)\b/;

test('the endpoints that pages name exist', () => {
  const { paths } = JSON.parse(text('controlplane/openapi.json')) as { paths: Record<string, object> };
  const plain = (path: string): string => path.replaceAll(/\{[^}]*\}|:\w+/g, '{}');
  const there = new Map(Object.entries(paths).map(([path, methods]) => [plain(path), Object.keys(methods)]));
  const pages = [
    'README.md',
    ...readdirSync(new URL('docs', ROOT), { encoding: 'utf8' }).map((name) => `docs/${name}`),
  ];
  const named = pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) =>
      [...text(page).matchAll(/(?:\b(GET|POST|PUT|PATCH|DELETE) )?(?<![\w…}])(\/v1\/[\w{}:/-]*[\w}])/g)]
        .filter(([, , path]) => !ELSEWHERE.test(path!))
        .map(([found, method, path]) => ({ page, found, method: method?.toLowerCase(), path: plain(path!) })),
    );
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(({ method, path }) => {
    const methods = there.get(path);
    return methods === undefined || (method !== undefined && !methods.includes(method));
  });
  expect(missing.map(({ page, found }) => `${page}: ${found}`)).toEqual([]);
});
