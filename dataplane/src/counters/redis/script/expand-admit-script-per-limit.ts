/**
 * The admission script as it is sent: admit.lua with its marked sections expanded once per row of the limit table. In a
 * section, INDEX is the row's number within its kind, from 1; `_I` becomes `_1`, `_2` …; WINDOW becomes the window's
 * name.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LIMITS, type Limit } from '@acg/base/limit-definitions';

/**
 * Expands the template instead of looping in Lua: a loop over windows costs a table per request (measured: half as much
 * again).
 */
export function expandScriptTemplate(template: string, limits: readonly Pick<Limit, 'algorithm' | 'window'>[]): string {
  return template.replace(/--\[\[each (\w+)\]\](.*?)--\[\[end\]\]/gs, (_, algorithm: string, text: string) =>
    limits
      .filter(({ algorithm: rowAlgorithm }) => rowAlgorithm === algorithm)
      .map(({ window }, at) => {
        const replacements: Readonly<Record<string, string>> = { INDEX: `${at + 1}`, _I: `_${at + 1}`, WINDOW: window };
        return text.replace(/\bINDEX\b|_I\b|\bWINDOW\b/g, (found) => replacements[found]!);
      })
      .join(''),
  );
}

export const ADMIT_SCRIPT = expandScriptTemplate(readFileSync(new URL('./admit.lua', import.meta.url), 'utf8'), LIMITS);
export const ADMIT_SCRIPT_SHA = createHash('sha1').update(ADMIT_SCRIPT).digest('hex');
