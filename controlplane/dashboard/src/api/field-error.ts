/**
 * Where in a form a refusal belongs. The API names the field that it is about: it begins with its name as it stands in
 * the body (`url must …`, `credentials.apiKey is required`), or speaks of it in words (`this e-mail already has …`).
 */
import { ApiError } from '@acg/client/api-errors';

/** Found out by the page itself, e.g. that a provider refuses what stands in a field. */
export class FieldError extends Error {
  override readonly name = 'FieldError';

  constructor(
    readonly field: string,
    text: string,
  ) {
    super(text);
  }
}

/** Names of the body's fields, with their labels. */
export type FieldLabels = Readonly<Record<string, string>>;

interface FieldErrorMessage {
  readonly field: string;
  /** For people: it speaks of the field by its label. */
  readonly text: string;
}

const UNKNOWN_FIELD = /^unknown field "([^"]+)"/;

/** Null: it names none of the form's fields. */
export function findFieldError(error: unknown, labels: FieldLabels): FieldErrorMessage | null {
  if (error instanceof FieldError) return error.field in labels ? { field: error.field, text: error.message } : null;
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return null;
  const apiMessage = error.error;
  // The longest first: `credentials.apiKey` before `credentials`.
  const names = Object.keys(labels).sort((a, b) => b.length - a.length);
  const [unknown] = UNKNOWN_FIELD.exec(apiMessage)?.slice(1) ?? [];
  for (const name of names) {
    const label = labels[name]!;
    if (unknown === name) return { field: name, text: `${label} is not known here` };
    if (apiMessage.startsWith(name)) {
      const rest = apiMessage.slice(name.length);
      // A part of it, e.g. `events.0`, or something after it; not the beginning of another word.
      const [part] = /^(?:\.[\w-]+)*(?=[\s:])/.exec(rest) ?? [];
      if (part !== undefined) return { field: name, text: simplifyValidatorMessage(label + rest.slice(part.length)) };
    }
    const words = new RegExp(`^(?:the|this|an?) ${escapeRegExp(label)}\\b`, 'i');
    if (words.test(apiMessage)) return { field: name, text: simplifyValidatorMessage(capitalize(apiMessage)) };
  }
  return null;
}

const capitalize = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The words of the API's validator, as people say them. */
const simplifyValidatorMessage = (text: string): string =>
  text
    .replace(/\bmust NOT\b/, 'must not')
    .replace('must be >=', 'must be at least')
    .replace('must be <=', 'must be at most');
