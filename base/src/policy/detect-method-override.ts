/**
 * Detects headers and query parameters that make some servers treat a call as another method or path. Rules match the
 * method and path of the call itself, so such calls are rejected where rules exist. Overrides in a body are not
 * detected.
 */
import { normalizeLeniently } from './split-path-strictly-or-leniently.js';

/**
 * Headers of Express method-override, Rails, Symfony, ASP.NET and Google's APIs. The last two override the path (IIS,
 * Symfony).
 */
const OVERRIDE_HEADERS: ReadonlySet<string> = new Set([
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-original-method',
  'x-original-url',
  'x-rewrite-url',
]);
/** Query parameters of Rails, Symfony, Laravel and Google's APIs. */
const OVERRIDE_PARAMETERS: ReadonlySet<string> = new Set(['_method', '$httpmethod']);
const X = 0x78;
const LENGTH_MIN = 13;

/** CGI and WSGI treat `_` as `-`. Some builds of the HTTP server accept `_` in names (test/src/http-probes). */
const isOverrideName = (name: string): boolean => OVERRIDE_HEADERS.has(name.replaceAll('_', '-'));

/** Whether the call carries an override. `headers`: flat, lower-case names. */
export function hasMethodOverride(query: string | null, headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    // The first letter and the length exclude most names.
    if (name.charCodeAt(0) === X && name.length >= LENGTH_MIN && isOverrideName(name)) return true;
  }
  return query !== null && query !== '' && hasQueryOverride(query);
}

/** PHP ends a name at a NUL and turns these characters into `_`, so that `.method` is `_method`. */
const toPhpName = (name: string): string => name.replace(/\0.*/s, '').replaceAll(/[.[ +]/g, '_');

function hasQueryOverride(query: string): boolean {
  return query.split(/[&;]/).some((param) => {
    const equals = param.indexOf('=');
    const name = toPhpName(normalizeLeniently(equals === -1 ? param : param.slice(0, equals)));
    return OVERRIDE_PARAMETERS.has(name) || isOverrideName(name);
  });
}
