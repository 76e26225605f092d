/**
 * What somebody typed or pasted to look for, as it may stand in addresses, histories and logs: of a token only its
 * beginning, by which its key is found as well.
 */
export const redactToken = (text: string): string => text.replace(/(acgm?_[0-9a-f]{8})[0-9a-f]+/gi, '$1');
