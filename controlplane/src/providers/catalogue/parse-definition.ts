/** Checks definitions of providers by their schema and by the rules that it cannot state. */
import { Ajv, type ValidateFunction } from 'ajv';
import { InvalidInput } from '../../domain/errors.js';
import { describeSchemaErrors } from '../../http/request-validation.js';
import { checkDefinition } from './check-definition.js';
import type { Problem } from './definition-problem.js';
import { ProviderFile, TenantDefinition } from './provider-definition.js';

const ajv = new Ajv({ allErrors: false, verbose: true, allowUnionTypes: true, code: { optimize: false } });
/** Compiled at the first use. */
const validators = new Map<object, ValidateFunction>();

/** The first error of the schema, with its place; null: none. */
function findSchemaProblem(schema: object, document: unknown, name: string): Problem | null {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(schema);
    validators.set(schema, validate);
  }
  if (validate(document)) return null;
  const message = describeSchemaErrors(validate.errors!, name);
  return { pointer: validate.errors![0]!.instancePath, message };
}

/** Messages are sentences of their own. */
export function findFileProblems(document: unknown): Problem[] {
  const problem = findSchemaProblem(ProviderFile, document, 'file');
  if (problem !== null) return [problem];
  return checkDefinition(document as ProviderFile).map(withName);
}

/** `/sensitive/3/call` → `sensitive.3.call`. */
const withName = ({ pointer, message }: Problem): Problem => ({
  pointer,
  message: `${pointer.slice(1).replaceAll('/', '.')} ${message}`,
});

/** Throws {@link InvalidInput} that names the member. */
export function parseTenantDefinition(given: Record<string, unknown>): TenantDefinition {
  const problem = findSchemaProblem(TenantDefinition, given, 'definition');
  if (problem !== null) throw new InvalidInput(`definition: ${problem.message}`);
  const definition = given as unknown as TenantDefinition;
  const impersonating = definition.credentials.methods?.findIndex(({ token }) => token.impersonate !== undefined) ?? -1;
  if (impersonating >= 0)
    throw new InvalidInput(
      `definition: credentials.methods.${impersonating}.token.impersonate is for built-in providers only`,
    );
  const [broken] = checkDefinition(definition).map(withName);
  if (broken !== undefined) throw new InvalidInput(`definition: ${broken.message}`);
  return definition;
}
