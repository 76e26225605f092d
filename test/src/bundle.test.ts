import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/bundle.mjs', import.meta.url));

test('bundle: modules find their files, and a change of a module or a package makes a new bundle', () => {
  const root = mkdtempSync(join(tmpdir(), 'acg-bundle-'));
  try {
    const write = (path: string, text: string): void => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), text);
    };
    const node = (...args: string[]): string => execFileSync(process.execPath, args, { cwd: root }).toString();
    const bundle = (): number => {
      node(SCRIPT, 'dataplane');
      return statSync(join(root, 'dataplane/dist/bundle')).ino;
    };
    const run = (): string => node('dataplane/dist/bundle/main.js');
    write('package-lock.json', '{}');
    write('node_modules/greeting/package.json', '{"type":"module","exports":"./index.js"}');
    write('node_modules/greeting/index.js', `export const greeting = /^.$/u.test('🐬') ? 'hello 🐬…' : '';`);
    write('dataplane/package.json', '{"type":"module"}');
    write('dataplane/dist/part/name.txt', 'text');
    const part = (end: string): string => `import { readFileSync } from 'node:fs';
      export const name = readFileSync(new URL('./name.txt', import.meta.url), 'utf8') + '${end}';`;
    write('dataplane/dist/part/name.js', part(''));
    write(
      'dataplane/dist/main.js',
      `import { greeting } from 'greeting';
       const { name } = await import('./part/name.js');
       process.stdout.write(greeting + ' ' + name);`,
    );
    const first = bundle();
    expect(run()).toBe('hello 🐬… text');
    expect(bundle()).toBe(first);
    write('dataplane/dist/part/name.js', part('!'));
    bundle();
    expect(run()).toBe('hello 🐬… text!');
    write('node_modules/greeting/index.js', `export const greeting = 'good day';`);
    bundle();
    expect(run()).toBe('good day text!');
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
