/**
 * Shortens tokens in a search text to their prefix, because it may end up in addresses, histories and logs. The prefix
 * is enough to find the token.
 */
export const redactTokensInText = (text: string): string => text.replace(/(acg[ms]?_[0-9a-f]{8})[0-9a-f]+/gi, '$1');
