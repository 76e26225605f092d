/** Text of others on somebody's terminal: agents choose paths and model names, and a terminal obeys control characters. */

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const C1 = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** On one line, with nothing that moves the cursor, colours, or turns text around. */
export const printable = (text: string): string => text.replace(CONTROL, escaped);

/** Lines that stay lines. */
export const printableLines = (text: string): string => text.split('\n').map(printable).join('\n');

/** The same value for every parser; what JSON leaves as it is and a terminal would obey is escaped. */
export const printableJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(C1, escaped);
