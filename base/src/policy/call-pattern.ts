/**
 * Patterns of calls, such as `POST /v1/chat/completions` and `GET /v1/models/**`: a method or `*`, then a path. In the
 * path, `*` is any run of characters inside one segment; a segment of only `*` must not be empty. `**` is any number of
 * segments, also none. Compiled once; matching takes linear time.
 */

export interface CallPattern {
  /** Null: any method. */
  readonly method: string | null;
  /** The segments between the `**`. One group: the path has no `**`. */
  readonly groups: readonly SegmentPattern[][];
}

/** Literal pieces of a segment, with any text between them. One piece: the segment equals it. */
type SegmentPattern = readonly string[];

/** Compiles a pattern, or returns null for an invalid one. `segmentsOf` splits paths as the matched paths are split. */
export function parseCallPattern(text: string, splitPath: (path: string) => readonly string[]): CallPattern | null {
  const space = text.indexOf(' ');
  const method = text.slice(0, space);
  const path = text.slice(space + 1);
  if (space < 1 || !path.startsWith('/')) return null;
  const groups: SegmentPattern[][] = [[]];
  for (const segment of splitPath(path)) {
    if (segment === '**') groups.push([]);
    else groups[groups.length - 1]!.push(segment.split('*'));
  }
  return { method: method === '*' ? null : method, groups };
}

/**
 * Whether a call matches. `segments`: of the path after its first slash. `matchesSegment`: compares one segment with the
 * pieces of its pattern.
 */
export function matchesCall(
  pattern: CallPattern,
  method: string,
  segments: readonly string[],
  matchesSegment = matchesWildcard,
): boolean {
  if (pattern.method !== null && pattern.method !== method) return false;
  const { groups } = pattern;
  const first = groups[0]!;
  if (groups.length === 1)
    return segments.length === first.length && matchesGroupAt(first, segments, 0, matchesSegment);
  const last = groups[groups.length - 1]!;
  if (segments.length < first.length + last.length) return false;
  const end = segments.length - last.length;
  if (!matchesGroupAt(first, segments, 0, matchesSegment) || !matchesGroupAt(last, segments, end, matchesSegment))
    return false;
  // A group between two `**` matches at its first fit, which leaves most segments for later groups.
  let from = first.length;
  for (let g = 1; g < groups.length - 1; g++) {
    const group = groups[g]!;
    while (from + group.length <= end && !matchesGroupAt(group, segments, from, matchesSegment)) from++;
    if (from + group.length > end) return false;
    from += group.length;
  }
  return true;
}

function matchesGroupAt(
  group: readonly SegmentPattern[],
  segments: readonly string[],
  from: number,
  matchesSegment: typeof matchesWildcard,
): boolean {
  for (let i = 0; i < group.length; i++) {
    const pieces = group[i]!;
    const segment = segments[from + i]!;
    if (!matchesSegment(pieces, segment) || (segment === '' && pieces.length > 1)) return false;
  }
  return true;
}

/** Matches a text against `pattern.split('*')`: all pieces in order, the first and the last at the ends. */
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
