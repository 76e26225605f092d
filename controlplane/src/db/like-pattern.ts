/** Pattern for `ilike` that matches any text containing this one. */
export const containsPattern = (text: string): string => `%${text.replace(LIKE_SPECIAL, '\\$&')}%`;

const LIKE_SPECIAL = /[\\%_]/g;
