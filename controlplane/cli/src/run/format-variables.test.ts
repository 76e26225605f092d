import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { formatVariables } from './format-variables.js';

const VALUE = `a'b"c$(touch /nowhere)\`x\`\\ d`;

test('sh: whatever a value holds, it is that value and no command', () => {
  const text = formatVariables({ added: { A: VALUE, B: 'plain' }, removed: ['GONE', 'not a name', 'A'] }, 'sh');
  const source = `${text}\nprintf '%s|%s|%s' "$A" "$B" "\${GONE-unset}"`;
  expect(execFileSync('/bin/sh', ['-c', source], { env: { GONE: 'x' } }).toString()).toBe(`${VALUE}|plain|unset`);
  expect(text).not.toContain('not a name');
  expect(text).not.toContain('unset A');
});

test('dotenv: quoted where it must be', () => {
  const text = formatVariables({ added: { A: 'https://gw/v1', B: 'two words', C: `it's` }, removed: [] }, 'dotenv');
  expect(text).toBe(`A=https://gw/v1\nB='two words'\nC="it's"`);
});

test('fish', () => {
  const text = formatVariables({ added: { A: `it's \\ here` }, removed: ['GONE'] }, 'fish');
  expect(text).toBe(`set -e GONE;\nset -gx A 'it\\'s \\\\ here';`);
});
