/** Builds one example for each named schema of requests and responses: fields by name from tables, others by type. */
import type { JsonNode } from './schema-registry.js';

const PREFIX = '#/components/schemas/';

export class ExampleBuilder {
  readonly problems: string[] = [];
  readonly #made = new Map<string, unknown>();

  constructor(
    readonly schemas: Readonly<Record<string, JsonNode>>,
    /** Values by key (controlplane/src/http/examples.ts). */
    readonly values: ReadonlyMap<string, unknown>,
  ) {}

  exampleOf(name: string): unknown {
    if (!this.#made.has(name)) this.#made.set(name, this.#value(this.schemas[name]!, [name]));
    return this.#made.get(name);
  }

  /** `place`: the schema's name and the fields within it. */
  #value(schema: JsonNode, place: readonly string[]): unknown {
    for (let from = 0; from < place.length; from++) {
      const known = this.values.get(place.slice(from).join('.'));
      if (known !== undefined && matchesType(schema, known)) return known;
    }
    if (typeof schema.$ref === 'string') return this.exampleOf(schema.$ref.slice(PREFIX.length));
    if (schema.const !== undefined) return schema.const;
    if (Array.isArray(schema.enum)) return schema.enum[0];
    const options = schema.anyOf as readonly JsonNode[] | undefined;
    if (options !== undefined) return this.#value(options.find(({ type }) => type !== 'null')!, place);
    return this.#ofType(schema, place);
  }

  #isOmitted(key: string): boolean {
    return this.values.has(key) && this.values.get(key) === undefined;
  }

  #ofType(schema: JsonNode, place: readonly string[]): unknown {
    const [type] = [schema.type].flat();
    if (type === 'object') return this.#object(schema, place);
    if (type === 'array') {
      const { $ref } = schema.items as JsonNode;
      return [
        typeof $ref === 'string'
          ? this.exampleOf($ref.slice(PREFIX.length))
          : this.#value(schema.items as JsonNode, place),
      ];
    }
    this.problems.push(`no example of ${place.join('.')}: add it to EXAMPLES of the feature’s schema.ts`);
    return null;
  }

  #object({ properties = {} }: JsonNode, place: readonly string[]): JsonNode {
    const fields = Object.entries(properties as Record<string, JsonNode>);
    const shown = fields.filter(([name]) => !this.#isOmitted(`${place[0]}.${name}`));
    return Object.fromEntries(shown.map(([name, field]) => [name, this.#value(field, [...place, name])]));
  }
}

/** Returns whether the table's value fits the schema's type: one name may be a number here and a text there. */
function matchesType(schema: JsonNode, value: unknown): boolean {
  if (schema.$ref !== undefined) return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (schema.const !== undefined) return schema.const === value;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonNode[]).some((option) => matchesType(option, value));
  if (Array.isArray(value))
    return schema.type === 'array' && value.every((item) => matchesType(schema.items as JsonNode, item));
  return [schema.type].flat().includes(typeOf(value)) || (schema.type === 'number' && typeOf(value) === 'integer');
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
