import { expect, test } from 'vitest';
import { createLogger, maskSecrets } from './log.js';

test.each([
  [`token acg_${'0123456789abcdef'.repeat(4)} used`, 'token [redacted] used'],
  ['Authorization: Bearer sk-live-123', 'Authorization: Bearer [redacted]'],
  ['connect postgres://me:pw@db/x failed', 'connect postgres://[redacted]@db/x failed'],
  ['whsec_abc-DEF_1 leaked', '[redacted] leaked'],
  ['acg_12345678 is a prefix', '[redacted] is a prefix'],
  ['nothing here', 'nothing here'],
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

test('log: a secret in the text of a message, of an error or of its cause is masked in the line', () => {
  expect(linesOf((log) => log.info(`no context for ${TOKEN}`))).not.toContain(TOKEN);
  expect(linesOf((log) => log.warn({ url: `redis://default:hunter22@host/0` }, 'lost'))).not.toContain('hunter22');
  const error = new Error('connect failed', { cause: new Error(`Bearer ${TOKEN} refused`) });
  expect(linesOf((log) => log.error({ err: error }, 'failed'))).not.toContain(TOKEN);
});

test.each(['authorization', 'password', 'token', 'secret', 'secretKey', 'credentials', 'apiKey', 'cookie'])(
  'log: a field named %s is redacted at the top, and one and two levels down',
  (name) => {
    const value = 'plain text that no pattern knows';
    for (const fields of [{ [name]: value }, { a: { [name]: value } }, { a: { b: { [name]: value } } }]) {
      expect(linesOf((log) => log.info(fields, 'seen'))).not.toContain(value);
    }
  },
);

test('log: a child logger masks like its parent', () => {
  expect(linesOf((log) => log.child({ token: 'plain text' }).info(`uses ${TOKEN}`))).not.toMatch(/plain text|acg_0/);
});
