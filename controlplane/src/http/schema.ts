/** TypeBox schemas that several features share. */
import { Type } from 'typebox';

export const Uuid = Type.String({ format: 'uuid' });
/** ISO 8601, UTC, milliseconds (docs/contract.md#conventions). */
export const Timestamp = Type.String({ format: 'date-time' });
export const IdParams = Type.Object({ id: Uuid });
/**
 * Characters that hide or reorder text: two names that look alike would be two names. The joiners U+200C and U+200D stay,
 * because emojis and some scripts need them, but not at the start or behind a Latin letter, where they are invisible.
 */
const HIDDEN = '\\p{Cc}\\u00ad\\u061c\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb';
const VISIBLE = `^(?=.*\\S)(?!.*(?:^|[\\u0020-\\u007e]|\\p{Script=Latin})[\\u200c\\u200d])`;
/** A name chosen by a user (docs/contract.md#conventions). */
export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `${VISIBLE}[^${HIDDEN}]+$`,
  'x-refused': 'must not be blank, and must not contain control characters or characters that hide or reorder text',
});
/**
 * The name of a user or an organization. E-mails to other people contain it, so it must also contain nothing that mail
 * programs turn into a link.
 */
export const PublicName = Type.String({
  minLength: 1,
  maxLength: 80,
  pattern: `${VISIBLE}(?!.*(?:://|[wW]{3}\\.|[\\p{L}\\p{N}-]\\.\\p{L}{2}))[^${HIDDEN}]+$`,
  'x-refused': 'must not be blank, and must not contain web addresses or control characters',
});
/** Case-insensitive: converted to lower case when read. */
export const Email = Type.String({ format: 'email', maxLength: 254 });
export const normaliseEmail = (email: string): string => email.toLowerCase();
export const Role = Type.Union([
  Type.Literal('viewer'),
  Type.Literal('member'),
  Type.Literal('admin'),
  Type.Literal('owner'),
]);
/** A UTC day, YYYY-MM-DD. Year 0 does not exist. */
export const Day = Type.String({ format: 'date', minLength: 10, maxLength: 10, pattern: '^(?!0000)' });
export const ErrorReply = Type.Object({ error: Type.String() });

/** Closed object: an unknown field is rejected by name. */
export const Body = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });

/** Response of deletions (docs/contract.md#management-api). */
export const Deleted = Type.Object({ deleted: Type.Literal(true) });
