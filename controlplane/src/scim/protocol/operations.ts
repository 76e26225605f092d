/** The operations of a PATCH (RFC 7644 §3.5.2). Pure. */
import { invalidValue, ScimProblem } from './errors.js';

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  /** Null: `value` is an object of attributes. */
  readonly path: string | null;
  readonly value: unknown;
}

const OPERATIONS_MAX = 1_000;
const PATH_CHARS_MAX = 500;
const OPS: ReadonlySet<string> = new Set(['add', 'replace', 'remove']);

/** Entra ID writes `Replace`, so `op` ignores case. Throws a `ScimProblem` when a rule is broken. */
export function readOperations(body: unknown): readonly Operation[] {
  const { Operations: list } = body as { Operations?: unknown };
  if (!Array.isArray(list) || list.length === 0 || list.length > OPERATIONS_MAX)
    throw new ScimProblem('invalid_input', 'invalidSyntax', `Operations must have 1 to ${OPERATIONS_MAX} operations`);
  return list.map(readOperation);
}

function readOperation(item: unknown): Operation {
  const { op, path, value } = (item ?? {}) as { op?: unknown; path?: unknown; value?: unknown };
  const name = typeof op === 'string' ? op.toLowerCase() : '';
  if (!OPS.has(name)) throw new ScimProblem('invalid_input', 'invalidSyntax', 'op must be add, replace or remove');
  const hasPath = path !== undefined && path !== null && path !== '';
  if (hasPath && (typeof path !== 'string' || path.length > PATH_CHARS_MAX))
    throw new ScimProblem('invalid_input', 'invalidPath', `path must have at most ${PATH_CHARS_MAX} characters`);
  if (!hasPath && name === 'remove')
    throw new ScimProblem('invalid_input', 'invalidPath', 'path is required with the operation remove');
  if (value === undefined && name !== 'remove') throw invalidValue(`value is required with the operation ${name}`);
  return { op: name as Operation['op'], path: hasPath ? (path as string) : null, value };
}

/** `[{"value": x}]` and `{"value": x}` stand for `x`. */
export function unwrapValue(value: unknown): unknown {
  const only = Array.isArray(value) && value.length === 1 ? (value[0] as unknown) : value;
  return typeof only === 'object' && only !== null && 'value' in only ? only.value : only;
}
