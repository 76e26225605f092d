/** Edits raw query strings. Drops or replaces single parameters and leaves every other byte unchanged. */

/** true keeps the parameter, false drops it, a string (`name=value`) replaces it. */
type ParamDecision = true | false | string;

/**
 * Walks the parameters of a raw query (without `?`) and rebuilds it only when a parameter changes. `decide` gets the
 * decoded name and the raw `name=value` text. Returns null for an emptied query, so that no bare `?` is sent.
 */
export function editQueryParams(query: string, decide: (name: string, pair: string) => ParamDecision): string | null {
  let out = '';
  let changed = false;
  let kept = 0;
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    const pair = query.slice(start, end);
    const decision = decide(decodeParamName(pair), pair);
    if (decision !== true) changed = true;
    if (decision !== false) {
      out += kept === 0 ? '' : '&';
      out += decision === true ? pair : decision;
      kept++;
    }
    start = end + 1;
  }
  if (!changed) return query;
  return kept === 0 ? null : out;
}

/** Decoded name of `name=value`. A name with a broken escape is returned unchanged. */
function decodeParamName(pair: string): string {
  const equals = pair.indexOf('=');
  return decodeParam(equals === -1 ? pair : pair.slice(0, equals));
}

/** Decoded value of `name=value`; `""` when there is no `=`. */
export function decodeParamValue(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? '' : decodeParam(pair.slice(equals + 1));
}

/** Raw `name=value` text of the first parameter whose decoded name `matchesName` accepts, or null. */
export function findRawParam(query: string, matchesName: (name: string) => boolean): string | null {
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    const pair = query.slice(start, end);
    if (matchesName(decodeParamName(pair))) return pair;
    start = end + 1;
  }
  return null;
}

function decodeParam(raw: string): string {
  if (!raw.includes('%') && !raw.includes('+')) return raw;
  try {
    return decodeURIComponent(raw.replaceAll('+', ' '));
  } catch {
    return raw;
  }
}
