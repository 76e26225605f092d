/** `--jq`: filters JSON output. Loaded on demand. */
import { compile } from '@michaelhomer/jqjs';
import { usage } from './cli-error.js';
import { escapeControlCharacters, toJsonWithoutControlCharacters } from './escape-control-characters.js';

/** Returns the lines of output for a value: texts without quotes, everything else as JSON on one line. */
export type JqFilter = (value: unknown) => readonly string[];

export function compileJqFilter(filter: string): JqFilter {
  const run = withUsageError(() => compile(filter));
  return (value) =>
    withUsageError(() =>
      [...run(value)].map((item) =>
        typeof item === 'string' ? toPlainText(item) : toJsonWithoutControlCharacters(item),
      ),
    );
}

/** Line breaks and tabs of `@tsv` and `join` stay; other control characters are escaped. */
const toPlainText = (text: string): string =>
  text
    .split(/([\n\t])/)
    .map((part) => (part === '\n' || part === '\t' ? part : escapeControlCharacters(part)))
    .join('');

function withUsageError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw usage(`--jq: ${error instanceof Error ? error.message : String(error)}`);
  }
}
