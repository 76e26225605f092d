/** Options whose value is a span of time, e.g. 90d, and whose request field is an instant or a number of seconds. */
import { type Field, mapField, textField } from './field.js';
import { parseDuration } from './parse-duration.js';

/** Returns the instant that lies `span` from now. */
export const toExpiresAt = (span: string): string =>
  new Date(Date.now() + parseDuration(span, '--expires')).toISOString();

export const expiryField = (help: string): Field<string> => mapField(textField('--expires <span>', help), toExpiresAt);

/** The overlap of an old and a new secret in seconds. */
export const graceSecondsField = (help: string): Field<number> =>
  mapField(textField('--grace <span>', help), (span) => (span === '0' ? 0 : parseDuration(span, '--grace') / 1_000));
