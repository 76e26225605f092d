/** Schema of call patterns that operators and members enter. Data planes match them (dataplane/src/policy). */
import { Type } from 'typebox';

export const PATTERNS_MAX = 100;
export const PATTERN_CHARS_MAX = 200;
export const CALL_PATTERN = '^(?:\\*|GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /[\\x21-\\x7e]*$';

export const CallPatterns = Type.Array(Type.String({ maxLength: PATTERN_CHARS_MAX, pattern: CALL_PATTERN }), {
  maxItems: PATTERNS_MAX,
  uniqueItems: true,
  description:
    'A method or *, a space, and a path of the provider. * matches any characters within one segment, ** any number of segments including none. Example: GET /v1/models/**',
});
