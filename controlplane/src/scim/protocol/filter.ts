/**
 * Filters of lists (RFC 7644 §3.4.2.2): `attribute eq "value"`, joined by `and`, which is all that directories send.
 * Pure. Anything else is rejected, so that no filter is ignored and returns other people.
 */
import { invalidFilter } from './errors.js';

export interface Condition {
  /** In lower case, without the URN of the schema, e.g. `username` or `emails.value`. */
  readonly attribute: string;
  readonly value: string;
}

const CONDITIONS_MAX = 5;
const CORE_SCHEMA = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;
/** Attribute, an optional filter of its values, an optional sub-attribute; `eq`; a JSON string or a bare word. */
const CONDITION =
  /^\s*([A-Za-z][\w:.$-]*)(\[\s*type\s+eq\s+"work"\s*\])?(\.value)?\s+eq\s+("(?:[^"\\]|\\.)*"|[^\s"()[\]]+)\s*/i;
const AND = /^and\s+/i;

/** Parses the filter; `attributes` lists those that may be used. Throws a `ScimProblem` otherwise. */
export function parseFilter(text: string, attributes: ReadonlySet<string>): readonly Condition[] {
  const conditions: Condition[] = [];
  for (let rest = text; ; ) {
    const match = CONDITION.exec(rest);
    if (match === null) throw invalidFilter(`filter must be attribute eq "value", joined by and; got ${quote(text)}`);
    const [whole, name, , subAttribute = '', literal] = match;
    const attribute = normaliseAttribute(name! + subAttribute);
    if (!attributes.has(attribute))
      throw invalidFilter(`filter cannot use ${quote(name!)}: use one of ${[...attributes].join(', ')}`);
    conditions.push({ attribute, value: parseLiteral(literal!, text) });
    rest = rest.slice(whole.length);
    if (rest === '') return conditions;
    const and = AND.exec(rest);
    if (and === null || conditions.length === CONDITIONS_MAX)
      throw invalidFilter(`filter must have at most ${CONDITIONS_MAX} conditions, joined by and; got ${quote(text)}`);
    rest = rest.slice(and[0].length);
  }
}

/** Lower case, without the URN of the core schemas: names of attributes ignore case (RFC 7643 §2.1). */
export const normaliseAttribute = (name: string): string => name.toLowerCase().replace(CORE_SCHEMA, '');

function parseLiteral(literal: string, filter: string): string {
  if (!literal.startsWith('"')) return literal;
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw invalidFilter(`filter has a value that is no JSON string; got ${quote(filter)}`);
  }
}

const QUOTED_CHARS_MAX = 200;
const quote = (text: string): string => JSON.stringify(text.slice(0, QUOTED_CHARS_MAX));
