/**
 * Keeps words out that readers had to learn (docs/glossary.md has the terms that replace them). Reads comments, test titles
 * and documents. Text in backticks is skipped: released names of the API and of tables keep such words.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Each dropped word with its replacement. */
const DROPPED: readonly (readonly [RegExp, string])[] = [
  [/\b(?:nobody|somebody|whoever|whomever|whom)\b/i, 'name the actor: the agent, the caller, the process'],
  [/\banew\b/i, 'again, new'],
  [/\bheed(?:s|ed)?\b/i, 'follow, obey'],
  [/\bmend(?:s|ed|ing)?\b/i, 'patch, fix'],
  [/(?<!connection |connect )\brefus(?:e|es|ed|al|als|ing)\b/i, 'reject, rejection'],
  [/\bdenials?\b/i, 'rejection'],
  [/\bpurses?\b/i, 'spend counter'],
  [/\bshipments?\b/i, 'usage batch'],
  [/\btakes? its leave\b|\blets? go\b|\bis let go\b/i, 'close, release'],
  [/\bhears? of\b|\bheard of\b|\bhas word of\b|\bhave word of\b/i, 'receive, be notified'],
  [/\bwell again\b/i, 'recovered'],
  [/\b(?:un)?noticed bugs?\b/i, 'killed mutants, survived mutants'],
  [/\blest\b/i, 'so that … not'],
];

const COMMENT = /^\s*(?:\/\/|\/\*|\*|--|\{\/\*)(.*)$|\s\/\/ (.*)$|\/\*\* (.*)\*\/\s*$/;
const TITLE = /^\s*(?:test|it|describe)(?:\.\w+)*\((['"`])(.*)\1/;

function proseLines(file: string, text: string): string[] {
  if (file.endsWith('.md'))
    return text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/[^\n]/g, '')).split('\n');
  return text.split('\n').map((line) => {
    const title = TITLE.exec(line);
    if (title !== null) return title[2]!;
    const comment = COMMENT.exec(line);
    return comment === null ? '' : (comment[1] ?? comment[2] ?? comment[3] ?? '');
  });
}

const withoutCode = (line: string): string => line.replace(/`[^`]*`|https?:\S+|\/v1\/\S+|\{@link [^}]*\}/g, '');

test('words: comments, test titles and documents use the terms of the glossary', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs', '*.lua', '*.md'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
    .split('\n')
    .filter(
      (file) =>
        file !== '' && !/generated\/|client\/src\/schema\.ts|test\/src\/words\.test\.ts|CHANGELOG\.md/.test(file),
    );
  expect(files.length).toBeGreaterThan(500);
  const found = files.flatMap((file) =>
    proseLines(file, readFileSync(`${ROOT}/${file}`, 'utf8')).flatMap((line, i) =>
      DROPPED.filter(([word]) => word.test(withoutCode(line))).map(
        ([word, instead]) => `${file}:${i + 1}: ${word.exec(withoutCode(line))![0]} (use: ${instead})`,
      ),
    ),
  );
  expect(found).toEqual([]);
});
