/** The texts in which a provider may echo a credential. Pure. */

const toHex = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');
const escapeAsHex = (character: string): string => `\\u${toHex(character)}`;

/** Characters that JSON encoders of usual frameworks escape although JSON does not require it, and how. */
const JSON_ENCODERS: readonly { readonly escaped: RegExp; readonly replacement: (character: string) => string }[] = [
  { escaped: /\//g, replacement: () => '\\/' }, // PHP
  { escaped: /[<>&]/g, replacement: escapeAsHex }, // Go, Ruby on Rails
  { escaped: /[<>&'=]/g, replacement: escapeAsHex }, // Gson
  { escaped: /[<>&'+`]|\\"/g, replacement: (character) => `\\u${toHex(character.at(-1)!).toUpperCase()}` }, // System.Text.Json
];

/**
 * The distinct forms of the values, each also as it appears inside a JSON string and with escapes of URLs in lower case.
 * Longest first, so that a form that contains another is masked whole. A value without special characters has one form.
 */
export function listSecretForms(...values: readonly string[]): readonly string[] {
  const all = new Set<string>();
  for (const value of values) {
    if (value === '') continue;
    const json = JSON.stringify(value).slice(1, -1);
    all.add(value).add(json);
    for (const { escaped, replacement } of JSON_ENCODERS) all.add(json.replace(escaped, replacement));
    all.add(value.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()));
  }
  return Object.freeze([...all].sort((a, b) => b.length - a.length));
}
