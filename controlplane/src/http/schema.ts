/** TypeBox pieces that several features share. */
import { Type } from 'typebox';

export const Uuid = Type.String({ format: 'uuid' });
/** ISO 8601, UTC, milliseconds (docs/contract.md#conventions). */
export const Timestamp = Type.String({ format: 'date-time' });
export const IdParams = Type.Object({ id: Uuid });
/** A name that people give: shown in lists and mails, so no control characters. */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f]+$',
});
/**
 * The name of a person or an organization: it stands in mails that strangers get, so it holds nothing that a mail program
 * makes a link of, and nothing that hides or turns text around.
 */
export const PublicName = Type.String({
  minLength: 1,
  maxLength: 80,
  pattern:
    '^(?=.*\\S)(?!.*(?:://|[wW]{3}\\.|[\\p{L}\\p{N}-]\\.\\p{L}{2}))' +
    '[^\\p{Cc}\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff]+$',
  'x-refused': 'must not be blank, and must hold no addresses of web pages and no control characters',
});
/** Compared without regard to case: normalised to lower case where it is read. */
export const Email = Type.String({ format: 'email', maxLength: 254 });
export const normaliseEmail = (email: string): string => email.toLowerCase();
export const Role = Type.Union([
  Type.Literal('viewer'),
  Type.Literal('member'),
  Type.Literal('admin'),
  Type.Literal('owner'),
]);
/** A UTC day, YYYY-MM-DD; there is no year 0. */
export const Day = Type.String({ format: 'date', minLength: 10, maxLength: 10, pattern: '^(?!0000)' });
export const ErrorReply = Type.Object({ error: Type.String() });

/** Closed object: unknown fields are refused with their name. */
export const Body = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

/** The answer of deletions (docs/contract.md#management-api). */
export const Deleted = Type.Object({ deleted: Type.Literal(true) });
