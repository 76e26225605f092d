/** Patterns of calls as operators write them; data planes match them (their policy/call-pattern.ts). */
import { Type } from 'typebox';

export const PATTERNS_MAX = 100;
export const PATTERN_CHARS_MAX = 200;

export const CallPatterns = Type.Array(
  Type.String({
    maxLength: PATTERN_CHARS_MAX,
    pattern: '^(?:\\*|GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[\\x21-\\x7e]*$',
  }),
  {
    maxItems: PATTERNS_MAX,
    uniqueItems: true,
    description:
      'Each a method or *, a space, and a path of the provider’s own: * is any run of characters inside one segment, ** any number of segments, none too. Example: GET /v1/models/**',
  },
);
