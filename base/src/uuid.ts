/** The text form of a UUID. The gateway's own are in lower case; callers may write theirs otherwise. */
const HEX = '[0-9a-f]';
const FORM = `^${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}$`;

/** In lower case. */
export const UUID_PATTERN = new RegExp(FORM);
export const UUID_PATTERN_ANY_CASE = new RegExp(FORM, 'i');

/** Stands where no id is known, and before all others. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
