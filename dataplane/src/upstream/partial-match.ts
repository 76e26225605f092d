/** Finding where a pattern might begin at the end of one chunk and go on in the next. */

/**
 * Length of the longest proper prefix of `pattern` that `bytes` ends with; 0 when none does. Looks only at the places
 * in the last `pattern.length - 1` bytes where the pattern's first byte stands.
 */
export function longestPartialSuffix(bytes: Buffer, pattern: Buffer): number {
  const windowStart = Math.max(0, bytes.length - pattern.length + 1);
  const first = pattern[0]!;
  for (let at = bytes.indexOf(first, windowStart); at !== -1; at = bytes.indexOf(first, at + 1)) {
    const length = bytes.length - at;
    if (bytes.compare(pattern, 0, length, at, bytes.length) === 0) return length;
  }
  return 0;
}
