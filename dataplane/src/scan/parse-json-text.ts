/** Parses JSON values that a scanner captured as text. Invalid JSON yields null. */

/** The parsed string cut to `lengthMax` characters; null when the text is not a non-empty JSON string. */
export function parseJsonString(text: string | null, lengthMax = 256): string | null {
  if (text === null || text.charCodeAt(0) !== 0x22) return null;
  const value = text.includes('\\') ? parseJson(text) : text.slice(1, -1);
  return typeof value === 'string' && value !== '' ? value.slice(0, lengthMax) : null;
}

export type JsonObject = { readonly [name: string]: unknown };

/** The parsed object; null when the text is not a JSON object. */
export function parseJsonObject(text: string | null): JsonObject | null {
  return asJsonObject(parseJson(text));
}

export function asJsonObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
}

function parseJson(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
