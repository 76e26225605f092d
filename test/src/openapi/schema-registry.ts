/**
 * Gives the schemas of the routes names, so that generated clients have types instead of anonymous shapes: the `title` of
 * a schema, else the name under which a `…schema.ts` of the control plane exports it.
 */
import { readdirSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../../controlplane/src/', import.meta.url));
const TYPE_NAME = /^[A-Z][A-Za-z0-9]*$/;

export interface JsonNode {
  [key: string]: unknown;
}

export interface SchemaModules {
  /** Name under which a module exports the schema of an object. */
  readonly nameBySchema: ReadonlyMap<object, string>;
  /** All tables `EXAMPLES` (controlplane/src/http/examples.ts). */
  readonly examples: ReadonlyMap<string, unknown>;
  readonly problems: readonly string[];
}

/** Imports the modules of the control plane that declare schemas. */
export async function importSchemaModules(): Promise<SchemaModules> {
  const nameBySchema = new Map<object, string>();
  const examples = new Map<string, unknown>();
  const problems: string[] = [];
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:schema|routes|examples)\.ts$/.test(path))
    .sort();
  for (const path of files) {
    const { EXAMPLES = {}, ...module } = (await import(pathToFileURL(SOURCES + path).href)) as SchemaModule;
    for (const [name, value] of Object.entries(module)) {
      if (TYPE_NAME.test(name) && isNode(value) && value.type === 'object' && !nameBySchema.has(value))
        nameBySchema.set(value, name);
    }
    for (const [key, value] of Object.entries(EXAMPLES)) {
      if (examples.has(key)) problems.push(`two tables EXAMPLES have ${key}: name its schema as well, in ${path}`);
      examples.set(key, value);
    }
  }
  return { nameBySchema, examples, problems };
}

interface SchemaModule {
  readonly [name: string]: unknown;
  readonly EXAMPLES?: JsonNode;
}

/** Collects named schemas while the routes are written down. */
export class SchemaRegistry {
  readonly components: Record<string, JsonNode> = {};
  readonly problems: string[] = [];
  readonly #nameByText = new Map<string, string>();

  constructor(readonly exported: ReadonlyMap<object, string>) {}

  /** Replaces named parts of the schema by references. `fallback` is its name when it has none. */
  reference(schema: object, fallback?: string): JsonNode {
    return this.#buildSchema(schema as JsonNode, fallback);
  }

  /** The schema without a name, for parameters; named parts of it are references. */
  inline(schema: unknown): JsonNode {
    return { ...(schema as JsonNode), properties: this.#writeValue('properties', (schema as JsonNode).properties) };
  }

  #buildSchema(schema: JsonNode, fallback?: string): JsonNode {
    const { title, ...rest } = schema;
    const name = typeof title === 'string' && TYPE_NAME.test(title) ? title : this.exported.get(schema);
    const written: JsonNode = {};
    for (const [key, value] of Object.entries(rest)) written[key] = this.#writeValue(key, value);
    const plain = simplifySchema(written);
    if (name === undefined && fallback === undefined) return plain;
    const text = JSON.stringify(plain);
    // Two operations with the same unnamed response share one type.
    const known = name ?? this.#nameByText.get(text) ?? fallback!;
    const before = this.components[known];
    if (before === undefined) {
      this.components[known] = plain;
      this.#nameByText.set(text, known);
    } else if (JSON.stringify(before) !== text) {
      this.problems.push(`two schemas are called ${known}: give one of them another title`);
    }
    return { $ref: `#/components/schemas/${known}` };
  }

  #writeValue(key: string, value: unknown): unknown {
    if (key === 'properties' || key === 'patternProperties') {
      return mapValues(value as JsonNode, (child) => this.#buildSchema(child as JsonNode));
    }
    if (key === 'items' || key === 'additionalProperties') return isNode(value) ? this.#buildSchema(value) : value;
    if (key === 'anyOf' || key === 'oneOf' || key === 'allOf') {
      return (value as JsonNode[]).map((child) => this.#buildSchema(child));
    }
    return value;
  }
}

const isNode = (value: unknown): value is JsonNode =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const mapValues = (node: JsonNode, change: (value: unknown) => unknown): JsonNode =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value)]));

/** Turns a union of constants into an enumeration, which generators support, and adds its type. */
function simplifySchema(schema: JsonNode): JsonNode {
  const { anyOf, ...rest } = schema;
  const options = anyOf as readonly JsonNode[] | undefined;
  if (options?.every((option) => typeof option.const === 'string')) {
    return { type: 'string', enum: options.map((option) => option.const), ...rest };
  }
  if (Array.isArray(schema.enum) && schema.type === undefined && schema.enum.every((v) => typeof v === 'string')) {
    return { type: 'string', ...schema };
  }
  return schema;
}
