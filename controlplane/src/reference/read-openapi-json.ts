/**
 * Reads openapi.json, which `npm run openapi` writes from the routes. Declares the parts of it that the reference page
 * uses.
 */
import { readFileSync } from 'node:fs';

const FILE = new URL('../../openapi.json', import.meta.url);

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

export interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: { readonly example: { readonly $ref: string } };
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description?: string;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly $ref?: string; readonly description?: string; readonly content?: Readonly<Record<string, Content>> }
    >
  >;
}

export interface ApiDocument {
  readonly info: {
    readonly title: string;
    readonly summary: string;
    readonly description: string;
    readonly version: string;
  };
  readonly servers: readonly [{ readonly url: string }];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
  };
}

/** Returns the document with this control plane's URL as its server. */
export function readApiDocument(publicUrl: string): ApiDocument {
  return { ...JSON.parse(readFileSync(FILE, 'utf8')), servers: [{ url: publicUrl }] };
}

/** An operation with its method and path. */
export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Returns the operations of a tag, in the document's order. */
export const operationsOfTag = ({ paths }: ApiDocument, tag: string): readonly ApiOperation[] =>
  Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    )
    .filter(({ operation }) => operation.tags[0] === tag);

/** The example of a body; undefined where there is none. */
export function exampleOf({ components }: ApiDocument, content: Content | undefined): unknown {
  const reference = content?.examples?.example.$ref;
  return reference === undefined ? content?.example : components.examples[nameOfRef(reference)]?.value;
}

/** `#/components/schemas/Agent` → `Agent`. */
export const nameOfRef = (reference: string): string => reference.slice(reference.lastIndexOf('/') + 1);
