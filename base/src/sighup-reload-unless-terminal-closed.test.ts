import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const directory = mkdtempSync(join(tmpdir(), 'acg-hangup-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/**
 * Creates a program that appends its actions to the file `said`, because it cannot print to a terminal that has closed.
 */
function program(said: string): string {
  const file = join(directory, `${said}.mjs`);
  const compiled = new URL('../dist/sighup-reload-unless-terminal-closed.js', import.meta.url).href;
  writeFileSync(
    file,
    `import { appendFileSync } from 'node:fs';
     import { onSighup } from ${JSON.stringify(compiled)};
     const say = (word) => appendFileSync(${JSON.stringify(join(directory, said))}, word + ' ');
     onSighup({ reload: () => say('reload'), stop: () => { say('stop'); process.exit(0); } });
     say(process.pid + ' ready');
     setInterval(() => {}, 1000);`,
  );
  return file;
}

async function until(said: string, word: string): Promise<string> {
  const file = join(directory, said);
  for (;;) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (text.includes(word)) return text;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('SIGHUP: a process without a terminal reloads and continues', async () => {
  const child = spawn(process.execPath, [program('none')], { detached: true, stdio: 'ignore' });
  await until('none', 'ready');
  child.kill('SIGHUP');
  await until('none', 'reload');
  expect(child.exitCode).toBeNull();
  child.kill('SIGKILL');
});

/** `script` of util-linux runs a program in a separate terminal. */
test.runIf(existsSync('/usr/bin/script'))(
  'SIGHUP: a process in a terminal reloads, and stops when the terminal closes',
  async () => {
    const command = `exec ${process.execPath} ${program('terminal')}`;
    const terminal = spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const pid = Number.parseInt(await until('terminal', 'ready'), 10);
    process.kill(pid, 'SIGHUP');
    await until('terminal', 'reload');
    terminal.kill('SIGKILL');
    expect(await until('terminal', 'stop')).toContain('reload stop');
  },
);
