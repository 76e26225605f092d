/** House rules that can be checked, so that they are not advice. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { COMPOSITION_FOLDERS, FOLDER_RULES, ROOT_FILES } from './folder-rules.js';
import { findImportCycles, findUnusedExports, listRelativeImports } from './import-graph.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)));
/** Made by the build from gateway.proto, and by `npm run openapi` from the routes. */
const generated = ['proto/src/generated/usage-record.ts', 'controlplane/client/src/schema.ts'].filter((path) =>
  existsSync(join(root, path)),
);
const sources = tracked.filter(
  (path) =>
    /^(base|proto|dataplane|controlplane|controlplane\/client|controlplane\/cli|controlplane\/dashboard|singlenode)\/src\/.*\.tsx?$/.test(
      path,
    ) && !generated.includes(path),
);
const production = sources.filter((path) => !path.endsWith('.test.ts') && !path.endsWith('.d.ts'));
const readSource = (path: string): string => readFileSync(join(root, path), 'utf8');
const offenders = (paths: readonly string[], bad: (source: string, path: string) => boolean): string[] =>
  paths.filter((path) => bad(readSource(path), path));

/** The anchor that a heading gets. */
const headingAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** Whether `page#anchor` is there, seen from a folder; an anchor alone is one of `self`. */
function linkResolves(link: string, folder: string, self: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? self : join(folder, path);
  if (!existsSync(join(root, target))) return false;
  if (anchor === undefined) return true;
  return [...readSource(target).matchAll(/^#+ (.*)$/gm)].some(([, heading]) => headingAnchor(heading!) === anchor);
}

const self = 'test/src/repository-rules.test.ts';
/** Documents that whoever reads this repository does not have. */
const FOREIGN_DOCUMENTS = /\b(?:SPEC|DESIGN|SECURITY|PROVIDERS|STYLE)(?:\.md)? ?§|\b(?:SPEC|DESIGN)\.md|\bshared\//;

/** The dashboard's screens are found by their folders, parts are there for all of them; deploy/rootfs runs the probes. */
const EXEMPT_FROM_UNUSED =
  /^(?:controlplane\/dashboard\/src\/(?:screens\/[\w-]+\/route\.ts|components\/|hooks\/|messages\/|format\/)|test\/src\/http-probes\/run-probes\.ts)/;

const MAX_FILE_LINES = 400;
/** Tables grow by a line for each provider and limit. */
const MAX_README_WORDS = 1_500;

interface Package {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

describe('tidy', () => {
  test('there are sources to check', () => {
    expect(production.length).toBeGreaterThan(20);
  });

  test(`no source file has more than ${MAX_FILE_LINES} lines`, () => {
    expect(offenders(production, (source) => source.split('\n').length > MAX_FILE_LINES)).toEqual([]);
  });

  test('no drawer files: utils, helpers, common, misc, manager', () => {
    expect(
      sources.filter((path) => /(^|[-/])(utils?|helpers?|common|misc|manager)([-.]|$)/.test(basename(path))),
    ).toEqual([]);
  });

  test('the environment is read in config.ts and main.ts only', () => {
    const allowed = /\/(config|main)\.ts$/;
    expect(offenders(production, (source, path) => !allowed.test(path) && /process\.env\b/.test(source))).toEqual([]);
  });

  test('nothing prints with console', () => {
    const own = production.filter((path) => !path.endsWith('/components/secrets/code-snippets.ts')); // shows others how they could
    expect(offenders(own, (source) => /\bconsole\.\w+\(/.test(source))).toEqual([]);
  });

  test('named exports only', () => {
    expect(offenders(production, (source) => /^export default/m.test(source))).toEqual([]);
  });

  test('no unfinished marks', () => {
    expect(offenders(production, (source) => /\b(TODO|FIXME|XXX|HACK)\b/.test(source))).toEqual([]);
  });

  test('the planes share proto/ and base/ only', () => {
    const crossing = offenders(production, (source, path) => {
      if (path.startsWith('dataplane/')) return /@acg\/(controlplane|singlenode)\//.test(source);
      if (path.startsWith('controlplane/dashboard/')) {
        return /@acg\/(?!client\/|base\/(?:limits|audit-actions)')|'node:/.test(source); // runs in browsers
      }
      if (path.startsWith('controlplane/client/')) return /@acg\/|'node:/.test(source); // runs in browsers, too
      if (path.startsWith('controlplane/')) return /@acg\/(dataplane|singlenode)\//.test(source);
      if (path === 'base/src/limits.ts') return /from '(?!\.\/units\.js')/.test(source); // runs in browsers, too
      if (path.startsWith('base/')) return /@acg\/\w+\//.test(source.replaceAll(/\* .*$/gm, ''));
      if (path.startsWith('proto/')) return /@acg\/(dataplane|controlplane|singlenode)\//.test(source);
      return false;
    });
    expect(crossing).toEqual([]);
  });

  const running = production.filter((path) => !/-fixture\.ts$|\/testing\//.test(path));
  const imports = listRelativeImports(new Map(running.map((path) => [path, readSource(path)])));

  test('no files import each other in a circle, not even types', () => {
    expect(findImportCycles(imports)).toEqual([]);
  });

  test('what is exported has an importer', () => {
    const paths = [...sources, ...generated, ...tracked.filter((path) => /^(test|bench)\/src\/.*\.ts$/.test(path))];
    const unused = findUnusedExports(new Map(paths.map((path) => [path, readSource(path)])));
    const wanted = unused.filter((name) => !EXEMPT_FROM_UNUSED.test(name) && !generated.includes(name.split(':')[0]!));
    expect(wanted).toEqual([]);
  });

  describe('workspaces', () => {
    const folders = tracked.filter((path) => path.endsWith('/package.json')).map((path) => dirname(path));
    /** Its files, without those of workspaces inside of it and the code that the dashboard shows to others. */
    const filesOf = (workspace: string): readonly string[] => {
      const inner = folders.filter((folder) => folder.startsWith(`${workspace}/`));
      return tracked.filter(
        (path) =>
          path.startsWith(`${workspace}/`) &&
          !inner.some((folder) => path.startsWith(`${folder}/`)) &&
          /\.(tsx?|mjs)$/.test(path) &&
          !path.endsWith('/components/secrets/code-snippets.ts'),
      );
    };
    const packageIn = (folder: string): Package => JSON.parse(readSource(join(folder, 'package.json'))) as Package;

    test('what one depends on is imported there', () => {
      const unused = folders.flatMap((workspace) => {
        const own = filesOf(workspace).map(readSource);
        return Object.keys(packageIn(workspace).dependencies ?? {})
          .filter((name) => !own.some((source) => source.includes(`'${name}'`) || source.includes(`'${name}/`)))
          .map((name) => `${workspace}: ${name}`);
      });
      expect(unused).toEqual([]);
    });

    test('what one imports is listed in its package.json, or in that of the root', () => {
      const missing = folders.flatMap((workspace) => {
        const { name, dependencies, devDependencies } = packageIn(workspace);
        const listed = Object.keys({ ...packageIn('').devDependencies, ...dependencies, ...devDependencies });
        const known = new Set([name, ...listed]);
        return filesOf(workspace).flatMap((path) =>
          [
            ...readSource(path).matchAll(
              /^(?:import|(?:import|export) .* from|\} from) '(?!node:)((?:@[\w-]+\/)?\w[\w.-]*)/gm,
            ),
          ]
            .filter(([, imported]) => !known.has(imported!))
            .map(([, imported]) => `${path}: ${imported}`),
        );
      });
      expect(missing).toEqual([]);
    });
  });

  test('units, the form of a UUID and the callback that does nothing are written once, in base', () => {
    const again = /const (?:MINUTE_MS|HOUR_MS|DAY_MS|NANOS_PER_CENT|UUID|ignore)\b[^=]*=/;
    expect(offenders(production, (source, path) => !path.startsWith('base/') && again.test(source))).toEqual([]);
  });

  describe.each(Object.entries(FOLDER_RULES))('%s: folders', (plane, rules) => {
    const folderOf = (path: string): string => {
      const inside = path.slice(`${plane}/src/`.length);
      return inside.includes('/') ? inside.slice(0, inside.lastIndexOf('/')) : '';
    };
    /** `a/*` stands for each folder in a. */
    const anyOf = (folder: string): string => folder.replace(/[^/]+$/, '*');
    const own = imports.filter(({ from }) => from.startsWith(`${plane}/src/`));
    const wiring = COMPOSITION_FOLDERS[plane] ?? [];

    test('each is known, and each that is named exists', () => {
      const folders = new Set(running.filter((path) => path.startsWith(`${plane}/src/`)).map(folderOf));
      const known = new Set(['', ...Object.keys(rules), ...wiring]);
      expect([...folders].filter((folder) => !known.has(folder) && !known.has(anyOf(folder)))).toEqual([]);
      const present = new Set([...folders, ...[...folders].map(anyOf)]);
      expect(Object.keys(rules).filter((folder) => !present.has(folder))).toEqual([]);
    });

    test('at the root stands what is named only', () => {
      const root = running.filter((path) => path.startsWith(`${plane}/src/`) && folderOf(path) === '');
      expect(root.map((path) => basename(path, extname(path)))).toEqual(ROOT_FILES[plane]);
    });

    test('one imports only what stands before it, and only what it may', () => {
      const order = Object.keys(rules);
      for (const [folder, allowed] of Object.entries(rules)) {
        expect(order.slice(0, order.indexOf(folder)), folder).toEqual(expect.arrayContaining([...allowed]));
      }
      const forbidden = own.filter(({ from, to }) => {
        const [importer, imported] = [folderOf(from), folderOf(to)];
        if (importer === imported || importer === '' || wiring.includes(importer)) return false;
        return !(rules[importer] ?? rules[anyOf(importer)])?.includes(imported);
      });
      expect(forbidden.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
    });
  });

  const pages = tracked.filter((path) => path.endsWith('.md'));

  test('every link between pages leads to a page and a heading', () => {
    const broken = pages.flatMap((page) =>
      [...readSource(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]*)\)/g)]
        .map(([, link]) => link!)
        .filter((link) => !linkResolves(link, dirname(page), page))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  test('comments cite pages of this repository, with headings that are there', () => {
    const readable = tracked.filter((path) => /\.(ts|mjs|sql|proto|ya?ml|sh|conf|lua)$/.test(path) && path !== self);
    const broken = readable.flatMap((path) =>
      [...readSource(path).matchAll(/\b(?:docs|dataplane|bench|deploy)\/[\w-]+\.md(?:#[\w-]+)?/g)]
        .filter(([cited]) => !linkResolves(cited, '', path))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(broken).toEqual([]);
    expect(offenders([...readable, ...pages], (source) => FOREIGN_DOCUMENTS.test(source))).toEqual([]);
  });

  test('no table is padded with blanks', () => {
    expect(offenders(pages, (source) => /^\|.*\S {2,}\|/m.test(source.replaceAll(/^```[\s\S]*?^```/gm, '')))).toEqual(
      [],
    );
  });

  test(`the README is short: ${MAX_README_WORDS} words, not counting its tables`, () => {
    const words = readSource('README.md').replaceAll(/^\|.*/gm, '').match(/\S+/g) ?? [];
    expect(words.length, 'words of README.md outside of its tables').toBeLessThanOrEqual(MAX_README_WORDS);
  });

  test('what the control plane does again and again runs in Background', () => {
    const own = production.filter(
      (path) => path.startsWith('controlplane/src/') && !path.endsWith('/ops/background-tasks.ts'),
    );
    expect(offenders(own, (source) => /\bsetInterval\(/.test(source))).toEqual([]);
  });

  test('what follows route reads x.routed, where the type says that it is there', () => {
    const early = /\/call\/stages\/(route|self-status)\.ts$/;
    expect(
      offenders(production, (source, path) => !early.test(path) && /\bx\.(context|target|position)!/.test(source)),
    ).toEqual([]);
  });

  test('SQL stays out of routes', () => {
    const routes = production.filter((path) => path.startsWith('controlplane/') && path.endsWith('/routes.ts'));
    expect(offenders(routes, (source) => /\bsql`|\btx`/.test(source))).toEqual([]);
  });

  test('no await in the stages of the hot path', () => {
    const stages = production.filter((path) => path.startsWith('dataplane/src/call/stages/'));
    expect(offenders(stages, (source) => /\bawait\b/.test(source))).toEqual([]);
  });

  test('names are looked up in the system resolver by operator-name-resolver.ts only: tenants could stop it for all', () => {
    const planes = production.filter(
      (path) => !/^(singlenode|controlplane\/cli)\//.test(path) && !path.endsWith('/operator-name-resolver.ts'),
    );
    expect(offenders(planes, (source) => /import \{[^}]*\blookup\b[^}]*\} from 'node:dns/.test(source))).toEqual([]);
  });

  test('every source file is used by another one or is an entry point', () => {
    const entry = /\/(main|config)\.tsx?$/;
    const everything = [
      ...sources,
      ...tracked.filter((p) => /^((test|bench)\/src\/.*\.ts|proto\/[^/]*\.mjs)$/.test(p)),
    ].map((p) => [p, readSource(p)] as const);
    const packages = tracked
      .filter((path) => path.endsWith('package.json'))
      .map(readSource)
      .join('\n');
    const dead = production.filter((path) => {
      if (entry.test(path) || path.endsWith('-fixture.ts')) return false; // fixtures serve tests
      if (path.startsWith('controlplane/client/') || EXEMPT_FROM_UNUSED.test(path)) return false; // a library of the two clients
      const name = basename(path, extname(path));
      const imported = new RegExp(`['"/]${name}(\\.js)?['"]`);
      const used = everything.some(
        ([other, source]) =>
          // A fixture is there for tests; everything else needs a user that runs.
          other !== path && (name.endsWith('-fixture') || !other.endsWith('.test.ts')) && imported.test(source),
      );
      return !used && !packages.includes(`${name}.js`);
    });
    expect(dead).toEqual([]);
  });

  test('no two migrations have the same number', () => {
    const numbers = tracked
      .filter((path) => path.endsWith('.sql') && path.includes('/migrations/'))
      .map((path) => Number(basename(path).slice(0, 4)));
    expect(numbers.length).toBeGreaterThan(5);
    expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([]);
  });
});
