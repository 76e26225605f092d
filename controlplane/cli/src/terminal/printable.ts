/** Text of others on somebody's terminal: agents choose paths and model names, and a terminal obeys control characters. */

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const JSON_CONTROL_CHARACTERS = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** On one line, with nothing that moves the cursor, colours, or turns text around. */
export const toPrintable = (text: string): string => text.replace(CONTROL_CHARACTERS, escapeCharacter);

/** Lines that stay lines. */
export const toPrintableLines = (text: string): string => text.split('\n').map(toPrintable).join('\n');

/** The same value for every parser; what JSON leaves as it is and a terminal would obey is escaped. */
export const toPrintableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(JSON_CONTROL_CHARACTERS, escapeCharacter);
