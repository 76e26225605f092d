/**
 * Where in a form a refusal belongs. The API names the field that it is about: it begins with its name as it stands in
 * the body (`url must …`, `credentials.apiKey is required`), or speaks of it in words (`this e-mail already has …`).
 */
import { ApiError } from '@acg/client/api-error';

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
export type Labels = Readonly<Record<string, string>>;

interface FieldProblem {
  readonly field: string;
  /** For people: it speaks of the field by its label. */
  readonly text: string;
}

const UNKNOWN = /^unknown field "([^"]+)"/;

/** Null: it names none of the form's fields. */
export function fieldProblem(error: unknown, labels: Labels): FieldProblem | null {
  if (error instanceof FieldError) return error.field in labels ? { field: error.field, text: error.message } : null;
  if (!(error instanceof ApiError) || error.status >= 500 || error.status === 429) return null;
  const said = error.error;
  // The longest first: `credentials.apiKey` before `credentials`.
  const names = Object.keys(labels).sort((a, b) => b.length - a.length);
  const [unknown] = UNKNOWN.exec(said)?.slice(1) ?? [];
  for (const name of names) {
    const label = labels[name]!;
    if (unknown === name) return { field: name, text: `${label} is not known here` };
    if (said.startsWith(name)) {
      const rest = said.slice(name.length);
      // A part of it, e.g. `events.0`, or something after it; not the beginning of another word.
      const [part] = /^(?:\.[\w-]+)*(?=[\s:])/.exec(rest) ?? [];
      if (part !== undefined) return { field: name, text: plain(label + rest.slice(part.length)) };
    }
    const words = new RegExp(`^(?:the|this|an?) ${escaped(label)}\\b`, 'i');
    if (words.test(said)) return { field: name, text: plain(capital(said)) };
  }
  return null;
}

const capital = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The words of the API's validator, as people say them. */
const plain = (text: string): string =>
  text
    .replace(/\bmust NOT\b/, 'must not')
    .replace('must be >=', 'must be at least')
    .replace('must be <=', 'must be at most');
