import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../scripts/copy-assets.mjs', import.meta.url));

test('build: assets can be copied from several terminals at once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'acg-assets-'));
  try {
    const source = join(root, 'base', 'src');
    const copies = join(root, 'base', 'dist');
    mkdirSync(source, { recursive: true });
    mkdirSync(copies, { recursive: true });
    const names = Array.from({ length: 40 }, (_, i) => `${i}.sql`);
    for (const name of names) {
      writeFileSync(join(source, name), `select '${name}'`);
      writeFileSync(join(copies, name), 'an older one');
    }
    writeFileSync(join(copies, 'gone.sql'), '');
    const runs = Array.from({ length: 6 }, () => once(spawn(process.execPath, [SCRIPT], { cwd: root }), 'exit'));
    expect((await Promise.all(runs)).map(([code]) => code as number)).toEqual([0, 0, 0, 0, 0, 0]);
    expect(readdirSync(copies).sort()).toEqual([...names].sort());
    for (const name of names) expect(readFileSync(join(copies, name), 'utf8')).toBe(`select '${name}'`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
