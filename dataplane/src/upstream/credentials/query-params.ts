/** Raw query strings: parameters are dropped or replaced in place, everything else stays byte for byte. */

/** What to do with one parameter: keep it, drop it, or put this text (`name=value`) in its place. */
type ParamDecision = true | false | string;

/**
 * Walks the parameters of a raw query (without `?`) and rebuilds it only when something changes.
 * `decide` gets the decoded name and the raw `name=value` text. An emptied query is null, so that no bare `?` is sent.
 */
export function editQuery(query: string, decide: (name: string, pair: string) => ParamDecision): string | null {
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

/** Decoded name of `name=value`; a name with a broken escape is returned as it stands. */
function decodeParamName(pair: string): string {
  const equals = pair.indexOf('=');
  return decodeParam(equals === -1 ? pair : pair.slice(0, equals));
}

/** Decoded value of `name=value`. */
export function decodeParamValue(pair: string): string {
  const equals = pair.indexOf('=');
  return equals === -1 ? '' : decodeParam(pair.slice(equals + 1));
}

/** Raw `name=value` text of the first parameter whose decoded name passes, or null. */
export function findRawParam(query: string, wanted: (name: string) => boolean): string | null {
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf('&', start);
    if (end === -1) end = query.length;
    const pair = query.slice(start, end);
    if (wanted(decodeParamName(pair))) return pair;
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
