import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { waitUntil } from './fixtures/wait-until.js';

const SCRIPT = fileURLToPath(new URL('../../scripts/build-lock.mjs', import.meta.url));

test('build: builds of two terminals run one after the other', async () => {
  const root = mkdtempSync(join(tmpdir(), 'acg-build-'));
  const journal = join(root, 'journal');
  try {
    writeFileSync(join(root, 'tsconfig.build.json'), '{}');
    const start = (name: string, body: string) => {
      const command = [SCRIPT, process.execPath, '-e', `${RECORD} record('${name} begins'); ${body}`];
      return spawn(process.execPath, command, { cwd: root, stdio: ['pipe', 'inherit', 'pipe'] });
    };
    // The first build ends when this test closes its input.
    const first = start('first', `process.stdin.resume().on('end', () => record('first ends'))`);
    await waitUntil('the first build runs', () => read(journal).includes('first begins'));
    const second = start('second', '');
    const [message] = (await once(second.stderr!, 'data')) as [Buffer];
    expect(message.toString()).toContain('waiting for another build');
    expect(read(journal)).toEqual(['first begins']);
    first.stdin!.end();
    expect((await once(second, 'exit'))[0]).toBe(0);
    expect(read(journal)).toEqual(['first begins', 'first ends', 'second begins']);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

const RECORD = `const record = (line) => require('fs').appendFileSync('journal', line + '\\n');`;

/** Lines of the journal; creates it when missing. */
function read(journal: string): readonly string[] {
  appendFileSync(journal, '');
  return readFileSync(journal, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
