/**
 * Regular expressions from provider files and tenants. RE2 matches in linear time, so no pattern can stop the control
 * plane; the RegExp of the language backtracks. Lookaround and backreferences do not exist.
 */
import { RE2JS } from 're2js';

const compiled = new Map<string, RE2JS>();
const COMPILED_MAX = 1_000;

/** Throws for an invalid pattern. */
export function compileLinearRegex(pattern: string): RE2JS {
  let regex = compiled.get(pattern);
  if (regex === undefined) {
    regex = RE2JS.compile(pattern);
    if (compiled.size >= COMPILED_MAX) compiled.clear();
    compiled.set(pattern, regex);
  }
  return regex;
}

/** Whether the pattern occurs in the text. */
export const matchesLinearRegex = (pattern: string, text: string): boolean => compileLinearRegex(pattern).test(text);
