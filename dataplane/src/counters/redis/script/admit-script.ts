/**
 * admit.lua as it is sent: what it says of each window of a kind is written out for the rows of the limit table. There
 * INDEX is the row's number within its kind, from 1; `_I` is `_1`, `_2` …; WINDOW is the name of its window.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { LIMITS, type Limit } from '@acg/base/limits';

/** No loops over windows in the script itself: they would cost a table and its walk per request (measured: half as much again). */
export function expandScriptTemplate(template: string, limits: readonly Pick<Limit, 'counted' | 'window'>[]): string {
  return template.replace(/--\[\[each (\w+)\]\](.*?)--\[\[end\]\]/gs, (_, counting: string, text: string) =>
    limits
      .filter(({ counted }) => counted === counting)
      .map(({ window }, at) => {
        const written: Readonly<Record<string, string>> = { INDEX: `${at + 1}`, _I: `_${at + 1}`, WINDOW: window };
        return text.replace(/\bINDEX\b|_I\b|\bWINDOW\b/g, (found) => written[found]!);
      })
      .join(''),
  );
}

export const ADMIT_SCRIPT = expandScriptTemplate(readFileSync(new URL('./admit.lua', import.meta.url), 'utf8'), LIMITS);
export const ADMIT_SCRIPT_SHA = createHash('sha1').update(ADMIT_SCRIPT).digest('hex');
