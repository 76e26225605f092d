/**
 * Escapes text of other users for a terminal: agents choose paths and model names, and terminals obey control
 * characters.
 */

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const JSON_CONTROL_CHARACTERS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns one line without characters that move the cursor, set colours or change the text direction. */
export const escapeControlCharacters = (text: string): string => text.replace(CONTROL_CHARACTERS, escapeCharacter);

/** Escapes each line and keeps the line breaks. */
export const escapeControlCharactersInLines = (text: string): string =>
  text.split('\n').map(escapeControlCharacters).join('\n');

/** Keeps the value for every JSON parser. Escapes characters that JSON allows and a terminal would obey. */
export const toJsonWithoutControlCharacters = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(JSON_CONTROL_CHARACTERS, escapeCharacter);
