/** For `ilike`: whatever holds the text. */
export const containsPattern = (text: string): string => `%${text.replace(LIKE_SPECIAL, '\\$&')}%`;

const LIKE_SPECIAL = /[\\%_]/g;
