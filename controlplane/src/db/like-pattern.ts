/** For `ilike`: whatever holds the text. */
export const containing = (text: string): string => `%${text.replace(LIKE_SPECIAL, '\\$&')}%`;

const LIKE_SPECIAL = /[\\%_]/g;
