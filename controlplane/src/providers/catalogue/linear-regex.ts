/**
 * Regular expressions from provider files and tenants. RE2 matches in time linear in the text times the program, so both
 * are bounded, and no expression can stop the control plane. The RegExp of the language backtracks. Lookaround and
 * backreferences do not exist.
 */
import { RE2JS } from 're2js';

/** Instructions of one compiled expression. The largest built-in one has 164. */
const PROGRAM_SIZE_MAX = 300;
/** A longer text matches nothing. 2 048 characters and 300 instructions take 40 ms at most. */
export const MATCHED_CHARS_MAX = 2_048;

const compiled = new Map<string, RE2JS>();
const COMPILED_MAX = 1_000;

/** Throws for an invalid pattern and for a large one, which it does not compile. */
export function compileLinearRegex(pattern: string): RE2JS {
  let regex = compiled.get(pattern);
  if (regex === undefined) {
    if (estimateProgramSize(pattern) > 4 * PROGRAM_SIZE_MAX) throw createSizeError();
    regex = RE2JS.compile(pattern);
    if (regex.programSize() > PROGRAM_SIZE_MAX) throw createSizeError();
    if (compiled.size >= COMPILED_MAX) compiled.clear();
    compiled.set(pattern, regex);
  }
  return regex;
}

const createSizeError = (): Error => new Error('it is too large: use smaller counts such as {8,}');

/** Whether the pattern occurs in the text. */
export const matchesLinearRegex = (pattern: string, text: string): boolean =>
  text.length <= MATCHED_CHARS_MAX && compileLinearRegex(pattern).test(text);

const TOKEN = /\\[pPx]\{[^}]*\}|\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d+)(?:,(\d*))?\}|./gs;

/** At least the order of the instructions that a valid pattern compiles to: each count copies what it repeats. */
function estimateProgramSize(pattern: string): number {
  const groups = [{ size: 0, last: 0 }];
  const add = (size: number): void => {
    const group = groups.at(-1)!;
    group.size += size;
    group.last = size;
  };
  for (const [token, min, max] of pattern.matchAll(TOKEN)) {
    if (token === '(') groups.push({ size: 0, last: 0 });
    else if (token === ')') add(groups.length > 1 ? groups.pop()!.size + 2 : 1);
    else if (min !== undefined) add(groups.at(-1)!.last * Math.max(Number(min), Number(max ?? 0)));
    else add(token.startsWith('\\Q') ? token.length : 1);
  }
  return groups.reduce((sum, { size }) => sum + size, 0);
}
