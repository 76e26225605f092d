import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { createLogger, maskSecrets } from './log.js';

test.each([
  [`token acg_${'0123456789abcdef'.repeat(4)} used`, 'token [redacted] used'],
  ['Authorization: Bearer sk-live-123', 'Authorization: Bearer [redacted]'],
  ['connect postgres://me:pw@db/x failed', 'connect postgres://[redacted]@db/x failed'],
  ['whsec_abc-DEF_1 leaked', '[redacted] leaked'],
  ['acg_12345678 is a prefix', '[redacted] is a prefix'],
  [`management token acgm_${'0123456789abcdef'.repeat(4)} used`, 'management token [redacted] used'],
  [`SCIM token acgs_${'0123456789abcdef'.repeat(4)} used`, 'SCIM token [redacted] used'],
  [`https://x/reset#token=${'a'.repeat(43)} sent`, 'https://x/reset#token=[redacted] sent'],
  ['next=%2Freset%23token%3Dabcdefghijklmnopqrstuvwxyz', 'next=%2Freset%23token%3D[redacted]'],
  ['cookie __Host-acg_session=abcdefghijklmnop; x=1', 'cookie __Host-acg_session=[redacted]; x=1'],
  ['code BCDF-GHJK typed', 'code [redacted] typed'],
  ['nothing here', 'nothing here'],
  ['id 01a206b7-b5a4-7e71-8f07-768109ecb7f3', 'id 01a206b7-b5a4-7e71-8f07-768109ecb7f3'],
  [`sha256 ${'0123456789abcdef'.repeat(4)}`, `sha256 ${'0123456789abcdef'.repeat(4)}`],
  ['at gateway_control_http_request_duration_seconds', 'at gateway_control_http_request_duration_seconds'],
])('log: masks secrets in %j', (text, expected) => {
  expect(maskSecrets(text)).toBe(expected);
});

const TOKEN = `acg_${'0123456789abcdef'.repeat(4)}`;

function linesOf(write: (log: ReturnType<typeof createLogger>) => void): string {
  const lines: string[] = [];
  write(createLogger('test', 'trace', (line) => void lines.push(line)));
  expect(lines).toHaveLength(1);
  return lines[0]!;
}

test('log: masks secrets in a message, an error and its cause', () => {
  expect(linesOf((log) => log.info(`no context for ${TOKEN}`))).not.toContain(TOKEN);
  expect(linesOf((log) => log.warn({ url: `redis://default:hunter22@host/0` }, 'lost'))).not.toContain('hunter22');
  const error = new Error('connect failed', { cause: new Error(`Bearer ${TOKEN} refused`) });
  expect(linesOf((log) => log.error({ err: error }, 'failed'))).not.toContain(TOKEN);
});

test.each([
  'authorization',
  'password',
  'newPassword',
  'token',
  'secretToken',
  'secret',
  'secretKey',
  'credentials',
  'apiKey',
  'cookie',
  'deviceCode',
  'invitationUrl',
])('log: redacts a field named %s at the top and up to two levels down', (name) => {
  const value = 'plain text that no pattern knows';
  for (const fields of [{ [name]: value }, { a: { [name]: value } }, { a: { b: { [name]: value } } }]) {
    expect(linesOf((log) => log.info(fields, 'seen'))).not.toContain(value);
  }
});

test('log: a child logger masks secrets, too', () => {
  expect(linesOf((log) => log.child({ token: 'plain text' }).info(`uses ${TOKEN}`))).not.toMatch(/plain text|acg_0/);
});

describe('standard output', () => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  /** Starts a process that logs as its parent requests by message and confirms each request. */
  function spawnLoggingProcess(): ChildProcess {
    const program = `
      import { createLogger } from ${JSON.stringify(new URL('../dist/log.js', import.meta.url))};
      const log = createLogger('test', 'info');
      process.on('message', ({ lines, bytes, exit }) => {
        if (exit) process.exit(7);
        for (let i = 0; i < lines; i++) log.info({ i }, 'x'.repeat(bytes));
        setImmediate(() => setImmediate(() => process.send('logged')));
      });
      process.send('ready');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    children.push(child);
    return child;
  }

  const logLines = async (child: ChildProcess, what: object): Promise<void> => {
    child.send(what);
    expect(await once(child, 'message')).toContain('logged');
  };

  test('the process continues when the reader closes the pipe, and ends on request', async () => {
    const child = spawnLoggingProcess();
    await once(child, 'message');
    child.stdout!.destroy();
    child.stderr!.destroy();
    await logLines(child, { lines: 3, bytes: 10 });
    await logLines(child, { lines: 3, bytes: 10 });
    child.send({ exit: true });
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('the process continues when the reader stalls, and logs the number of lost lines afterwards', async () => {
    const child = spawnLoggingProcess();
    await once(child, 'message');
    await logLines(child, { lines: 3_000, bytes: 1_000 });
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await expect.poll(() => text).toMatch(/log lines lost.*\n$/);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const lost = lines.find(({ msg }) => String(msg).startsWith('log lines lost')).lines;
    expect(lost).toBeGreaterThan(0);
    expect(lines.filter(({ i }) => i !== undefined)).toHaveLength(3_000 - lost);
  });

  test('the process ends on request while the reader is stalled', async () => {
    const child = spawnLoggingProcess();
    await once(child, 'message');
    await logLines(child, { lines: 3_000, bytes: 1_000 });
    child.send({ exit: true });
    expect(await once(child, 'exit')).toEqual([7, null]);
  });

  test('the last lines are flushed before the process ends', async () => {
    const child = spawnLoggingProcess();
    await once(child, 'message');
    let text = '';
    child.stdout!.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await logLines(child, { lines: 50, bytes: 100 });
    child.send({ exit: true });
    await once(child, 'close');
    expect(text.trimEnd().split('\n')).toHaveLength(50);
  });
});
