/**
 * Request validation (docs/contract.md#management-api). Bodies are never coerced, and unknown fields are rejected.
 * Query strings and path parameters are parsed to their types. Messages name the field and the valid values.
 */
import { UUID_PATTERN_ANY_CASE } from '@acg/base/uuid-patterns';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import type { FastifySchemaCompiler, FastifySchemaValidationError } from 'fastify';
import { InvalidInput } from '../domain/errors.js';

const addFormats = ajvFormats.default;
/** Most schemas validate few requests, and optimizing takes 40 % of compiling them. */
const COMPILED_ONCE = { optimize: false };
const strictAjv = new Ajv({
  coerceTypes: false,
  useDefaults: true,
  removeAdditional: false,
  allErrors: false,
  verbose: true,
  code: COMPILED_ONCE,
});
const coercingAjv = new Ajv({
  coerceTypes: true,
  useDefaults: true,
  removeAdditional: false,
  allErrors: false,
  verbose: true,
  code: COMPILED_ONCE,
});
/** Accepts only the plain form: ajv's own format `uuid` also accepts `urn:uuid:…`, which Postgres rejects. */
for (const ajv of [strictAjv, coercingAjv]) {
  addFormats(ajv);
  ajv.addFormat('uuid', UUID_PATTERN_ANY_CASE);
  // Says in words what a pattern requires; also part of the API document.
  ajv.addKeyword('x-refused');
}

const compiledValidators = new WeakMap<object, Validator>();

/** Fastify's interface: returns whether the data is valid; `errors` gives the reasons. */
interface Validator {
  (data: unknown): boolean;
  errors?: ErrorObject[] | null;
}

/** Compiles a schema when it is first used, and once per process: compiling those of all routes takes seconds of CPU. */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const validator: Validator = (data) => {
    const validate = compileOnce(schema, httpPart);
    const isValid = validate(data);
    validator.errors = validate.errors ?? null;
    return isValid;
  };
  return validator;
};

function compileOnce(schema: object, httpPart: string | undefined): Validator {
  const known = compiledValidators.get(schema);
  if (known !== undefined) return known;
  const validate =
    httpPart === 'body'
      ? withLowerCaseIds(strictAjv.compile(schema), schema)
      : withFiniteNumbers(withLowerCaseIds(coercingAjv.compile(schema), schema), schema);
  compiledValidators.set(schema, validate);
  return validate;
}

/**
 * Converts ids to lower case, as they are stored. Otherwise text comparisons (invalidations, memberships) would miss an
 * id in upper case.
 */
function withLowerCaseIds(validate: ValidateFunction, schema: object): Validator {
  const properties = (schema as { properties?: Record<string, { format?: string }> }).properties ?? {};
  const ids = Object.keys(properties).filter((name) => properties[name]?.format === 'uuid');
  if (ids.length === 0) return validate as Validator;
  const validator: Validator = (data) => {
    if (!validate(data)) {
      validator.errors = validate.errors ?? null;
      return false;
    }
    const fields = data as Record<string, unknown>;
    for (const name of ids) {
      const id = fields[name];
      if (typeof id === 'string') fields[name] = id.toLowerCase();
    }
    return true;
  };
  return validator;
}

/**
 * Text such as `1e400` is parsed to Infinity, for which ajv checks no bounds. JSON cannot contain Infinity, so bodies
 * need no such check.
 */
function withFiniteNumbers(validate: Validator, schema: object): Validator {
  const properties = (schema as { properties?: Record<string, object> }).properties ?? {};
  const validator: Validator = (data) => {
    const valid = validate(data);
    validator.errors = validate.errors ?? null;
    if (!valid) return false;
    for (const [name, value] of Object.entries(data as Record<string, unknown>)) {
      if (typeof value !== 'number' || Number.isFinite(value)) continue;
      validator.errors = [notFiniteError(name, properties[name] ?? {})];
      return false;
    }
    return true;
  };
  return validator;
}

const notFiniteError = (name: string, parentSchema: object): ErrorObject => ({
  keyword: 'type',
  instancePath: `/${name}`,
  schemaPath: `#/properties/${name}/type`,
  params: { type: (parentSchema as { type?: string }).type ?? 'number' },
  parentSchema,
});

/** Builds the 400 error of a failed validation. */
export function schemaErrorFormatter(errors: FastifySchemaValidationError[], httpPart: string): Error {
  return new InvalidInput(describeSchemaErrors(errors as unknown as ErrorObject[], httpPart));
}

/** One line that names the field and the valid values. `document` names the whole. */
export function describeSchemaErrors(errors: readonly ErrorObject[], document: string): string {
  const error = mostSpecificError(errors);
  return error === undefined ? `${document} is invalid` : describeError(error, document);
}

/**
 * If no option of an `anyOf` matched, returns the `anyOf` error. But if the value has the right type for one option and
 * violates its rule, returns the error of that rule.
 */
function mostSpecificError(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const choice = errors.at(-1);
  if (choice?.keyword !== 'anyOf') return errors[0];
  return errors.find(({ keyword }) => keyword !== 'const' && keyword !== 'type' && keyword !== 'anyOf') ?? choice;
}

function describeError(error: ErrorObject, httpPart: string): string {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const field = path === '' ? null : path;
  if (isDayField(error) && error.keyword !== 'type') return `${field ?? httpPart} must be a day, YYYY-MM-DD`;
  switch (error.keyword) {
    case 'additionalProperties':
      return `unknown field ${JSON.stringify(error.params.additionalProperty)}${field === null ? '' : ` in ${field}`}`;
    case 'required':
      return `${field === null ? '' : `${field}.`}${String(error.params.missingProperty)} is required`;
    case 'enum':
    case 'const':
    case 'anyOf':
      return `${field ?? httpPart} must be ${describeAllowedValues(error)}`;
    case 'pattern':
      return `${field ?? httpPart} ${rejectionText(error) ?? 'is blank or has characters that are not allowed'}`;
    case 'type':
      return field === null
        ? `the ${httpPart} must be a JSON ${String(error.params.type)}`
        : `${field} must be ${typeNames(error.params.type)}`;
    case 'minProperties':
      return `${field ?? `the ${httpPart}`} must have at least one field`;
    default:
      return `${field ?? httpPart} ${error.message ?? 'is invalid'}`;
  }
}

const isDayField = (error: ErrorObject): boolean =>
  (error.parentSchema as { format?: string } | undefined)?.format === 'date';

const rejectionText = (error: ErrorObject): string | null =>
  (error.parentSchema as { 'x-refused'?: string } | undefined)?.['x-refused'] ?? null;

const TYPE_NAMES: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

/** `['integer', 'null']` → `a whole number or null`. */
const typeNames = (types: string | readonly string[]): string =>
  [types]
    .flat()
    .map((type) => TYPE_NAMES[type] ?? type)
    .join(' or ');

interface Options {
  readonly anyOf?: readonly { readonly const?: unknown; readonly type?: string }[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

function describeAllowedValues(error: ErrorObject): string {
  const schema = (error.parentSchema ?? {}) as Options;
  const values = schema.enum ??
    schema.anyOf?.map((option) => ('const' in option ? option.const : undefined)) ?? [schema.const];
  if (schema.anyOf !== undefined && values.every((value) => value === undefined)) {
    return typeNames(schema.anyOf.map((option) => option.type ?? 'something else'));
  }
  const names = [...new Set(values.map((value) => (typeof value === 'string' ? value : String(value))))];
  return names.length === 1 ? names[0]! : `one of ${names.join(', ')}`;
}
