/**
 * Patterns of calls, such as `POST /v1/chat/completions` and `GET /v1/models/**`: a method or `*`, then a path in which
 * `*` is any run of characters inside one segment (a segment that is `*` alone is not empty) and `**` any number of
 * segments, none too. Compiled once; matching takes no longer than pattern and path are long.
 */

export interface CallPattern {
  /** Null: any. */
  readonly method: string | null;
  /** The segments between two `**`; one group: the path has no `**`. */
  readonly groups: readonly SegmentPattern[][];
}

/** A segment's literal pieces; between two of them anything may stand. One piece: the segment is that text. */
type SegmentPattern = readonly string[];

/** `segmentsOf`: how paths are read that are matched against it; null for what is no pattern. */
export function parseCallPattern(text: string, segmentsOf: (path: string) => readonly string[]): CallPattern | null {
  const space = text.indexOf(' ');
  const method = text.slice(0, space);
  const path = text.slice(space + 1);
  if (space < 1 || !path.startsWith('/')) return null;
  const groups: SegmentPattern[][] = [[]];
  for (const segment of segmentsOf(path)) {
    if (segment === '**') groups.push([]);
    else groups[groups.length - 1]!.push(segment.split('*'));
  }
  return { method: method === '*' ? null : method, groups };
}

/** `segments`: of the path behind its first slash. */
export function matchesCall(pattern: CallPattern, method: string, segments: readonly string[]): boolean {
  if (pattern.method !== null && pattern.method !== method) return false;
  const { groups } = pattern;
  const first = groups[0]!;
  if (groups.length === 1) return segments.length === first.length && matchesGroupAt(first, segments, 0);
  const last = groups[groups.length - 1]!;
  if (segments.length < first.length + last.length) return false;
  const end = segments.length - last.length;
  if (!matchesGroupAt(first, segments, 0) || !matchesGroupAt(last, segments, end)) return false;
  // What stands between two `**` is taken where it first fits: later ones then have the most room.
  let from = first.length;
  for (let g = 1; g < groups.length - 1; g++) {
    const group = groups[g]!;
    while (from + group.length <= end && !matchesGroupAt(group, segments, from)) from++;
    if (from + group.length > end) return false;
    from += group.length;
  }
  return true;
}

function matchesGroupAt(group: readonly SegmentPattern[], segments: readonly string[], from: number): boolean {
  for (let i = 0; i < group.length; i++) {
    const pieces = group[i]!;
    const segment = segments[from + i]!;
    if (!matchesWildcard(pieces, segment) || (segment === '' && pieces.length > 1)) return false;
  }
  return true;
}

/** `text.split('*')` of a pattern against a text: the pieces in their order, the first and the last at the ends. */
export function matchesWildcard(pieces: readonly string[], text: string): boolean {
  const first = pieces[0]!;
  if (pieces.length === 1) return text === first;
  const last = pieces[pieces.length - 1]!;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (let p = 1; p < pieces.length - 1; p++) {
    const piece = pieces[p]!;
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
