/**
 * Finds the form field that an API error is about. The API starts such a message with the field's name in the body
 * (`url must …`, `credentials.apiKey is required`) or names it in words (`this e-mail already has …`).
 */
import { ApiError } from '@acg/client/api-errors';

/** An error that the page itself found, e.g. the provider rejects the value of a field. */
export class FieldError extends Error {
  override readonly name = 'FieldError';

  constructor(
    readonly field: string,
    text: string,
  ) {
    super(text);
  }
}

/** Labels of the fields, by their names in the body. */
export type FieldLabels = Readonly<Record<string, string>>;

interface FieldErrorMessage {
  readonly field: string;
  /** For users: names the field by its label. */
  readonly text: string;
}

const UNKNOWN_FIELD = /^unknown field "([^"]+)"/;

/** Null: the message names no field of the form. */
export function findFieldError(error: unknown, labels: FieldLabels): FieldErrorMessage | null {
  if (error instanceof FieldError) return error.field in labels ? { field: error.field, text: error.message } : null;
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return null;
  const apiMessage = error.error;
  // The longest first: `credentials.apiKey` before `credentials`.
  const names = Object.keys(labels).sort((a, b) => b.length - a.length);
  const [unknown] = UNKNOWN_FIELD.exec(apiMessage)?.slice(1) ?? [];
  for (const name of names) {
    const label = labels[name]!;
    if (unknown === name) return { field: name, text: `${label} is not a known field` };
    if (apiMessage.startsWith(name)) {
      const rest = apiMessage.slice(name.length);
      // A sub-field such as `events.0`, or the end of the name; not the beginning of a longer word.
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

/** Rewrites phrases of the API's validator in plain English. */
const simplifyValidatorMessage = (text: string): string =>
  text
    .replace(/\bmust NOT\b/, 'must not')
    .replace('must be >=', 'must be at least')
    .replace('must be <=', 'must be at most');
