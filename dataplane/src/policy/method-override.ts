/**
 * Headers and query parameters that make some servers take a call for another one: for another method, or for another
 * path. Rules are matched against the method and the path of the call itself, so such calls are refused where there are
 * rules. Overrides in a body are not seen.
 */
import { normalizeLeniently } from './path-segments.js';

/** Express method-override, Rails, Symfony, ASP.NET and Google's APIs; the last two name a path (IIS, Symfony). */
const OVERRIDES: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
  'x-original-url',
  'x-rewrite-url',
]);
/** Of queries and forms: Rails, Symfony, Laravel; Google's APIs. */
const PARAMETERS: ReadonlySet<string> = new Set(['_method', '$httpmethod']);
const X = 0x78;
const LENGTH_MIN = 13;

/** CGI and WSGI read `_` for `-`; some builds of the HTTP server let it pass (test/src/http-probes). */
const isOverrideName = (name: string): boolean => OVERRIDES.has(name.replaceAll('_', '-'));

/** `headers`: flat, lower-case names. */
export function hasMethodOverride(query: string | null, headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    // Most names are none by their first letter or their length.
    if (name.charCodeAt(0) === X && name.length >= LENGTH_MIN && isOverrideName(name)) return true;
  }
  return query !== null && query !== '' && hasQueryOverride(query);
}

function hasQueryOverride(query: string): boolean {
  return query.split(/[&;]/).some((param) => {
    const equals = param.indexOf('=');
    const name = normalizeLeniently(equals === -1 ? param : param.slice(0, equals));
    return PARAMETERS.has(name) || isOverrideName(name);
  });
}
