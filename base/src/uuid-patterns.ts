/** The text form of a UUID. The gateway writes lower case; callers may write either case. */
const HEX = '[0-9a-f]';
const FORM = `^${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}$`;

/** Matches lower case only. */
export const UUID_PATTERN = new RegExp(FORM);
export const UUID_PATTERN_ANY_CASE = new RegExp(FORM, 'i');

/** Placeholder for an unknown id; sorts before every other UUID. */
export const NIL_UUID = '00000000-0000-0000-0000-000000000000';
