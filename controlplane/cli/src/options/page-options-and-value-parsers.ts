/** Options that several commands share, and parsers of their values. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Invocation } from '../invocation/invocation.js';

export function parseWholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return value;
}

export interface PageOptions {
  readonly limit?: number;
  readonly offset?: number;
}

export const addPageOptions = (command: Command): Command =>
  command
    .option('--limit <n>', 'rows at most, 1 to 100', parseWholeNumber)
    .option('--offset <n>', 'rows to skip', parseWholeNumber);

export const toPageQuery = ({ limit, offset }: PageOptions): { limit: number; offset: number } => ({
  limit: limit ?? 100,
  offset: offset ?? 0,
});

interface Page {
  readonly total: number;
  readonly offset: number;
  /** True when there may be more rows than `total`. */
  readonly totalCapped?: boolean;
}

/** Reports how many rows the page omits. */
export function printRemainingRows(run: Pick<Invocation, 'printNote'>, rows: number, page: Page): void {
  const capped = page.totalCapped === true;
  if (rows === 0 || (page.offset + rows >= page.total && !capped)) return;
  run.printNote(`${rows} of ${page.total}${capped ? ' and more' : ''}; the next: --offset ${page.offset + rows}`);
}

/** Converts `50.00` to 5000. */
export function parseDollarsAsCents(text: string): number {
  if (!/^\d{1,10}(?:\.\d{1,2})?$/.test(text))
    throw new InvalidArgumentError('It must be US dollars, e.g. 50 or 49.90.');
  return Math.round(Number(text) * 100);
}

export const parseList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** Collects values of a repeatable option. */
export const appendValue = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Parses `name=value`. */
export function parsePair(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be NAME=VALUE.');
  return [text.slice(0, at), text.slice(at + 1)];
}
