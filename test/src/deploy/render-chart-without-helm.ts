/**
 * Renders the chart's templates. They use five forms of Go's template language, so this small parser is enough; any
 * other text between braces is an error.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments, stringify } from 'yaml';

export interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // biome-ignore lint/suspicious/noExplicitAny: as many shapes as kinds; tests look at what they name
  readonly [key: string]: any;
}

const ACTION = /[ \t]*\{\{- (.+?) \}\}|\{\{ (.+?) \}\}/g;
const PLAIN = /^\.[A-Za-z.]+$/;
/** A condition around a whole template. */
const CONDITION = /^\{\{- if (\.[A-Za-z.]+) \}\}\n([\s\S]*)^\{\{- end \}\}\n$/m;
const FILE = /^\.Files\.Get "([\w./-]+)" \| nindent (\d+)$/;
const BLOCK = /^toYaml (\.[A-Za-z.]+) \| nindent (\d+)$/;

/** `overrides` replace the chart's values, as those of a user's file do. */
export function renderChart(directory: string, namespace: string, overrides: object = {}): Resource[] {
  const values = mergeValues(parse(readFileSync(join(directory, 'values.yaml'), 'utf8')), overrides);
  const scope = { Values: values, Release: { Namespace: namespace }, directory };
  return readdirSync(join(directory, 'templates')).flatMap((name) => {
    const text = renderTemplate(readFileSync(join(directory, 'templates', name), 'utf8'), scope);
    if (text === '') return [];
    return parseAllDocuments(text).map((document) => {
      if (document.errors.length > 0) throw new Error(`${name}: ${document.errors[0]!.message}`);
      return document.toJS() as Resource;
    });
  });
}

function mergeValues(values: unknown, overrides: unknown): unknown {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(values) || !isMap(overrides)) return overrides;
  const merged = { ...values };
  for (const [name, value] of Object.entries(overrides))
    merged[name] = name in values ? mergeValues(values[name], value) : value;
  return merged;
}

export function renderTemplate(text: string, scope: object): string {
  const [, condition, inner] = CONDITION.exec(text) ?? [];
  if (condition !== undefined) return resolvePath(scope, condition) === true ? renderTemplate(inner!, scope) : '';
  const rendered = text.replaceAll(ACTION, (_all, trimmed: string | undefined, inline: string | undefined) => {
    const action = (trimmed ?? inline)!;
    if (trimmed === undefined && PLAIN.test(action)) {
      const value = resolvePath(scope, action);
      if (typeof value === 'string' || typeof value === 'number') return String(value);
    }
    const indented = (block: string, indent: string): string =>
      block
        .trimEnd()
        .split('\n')
        .map((line) => `\n${line === '' ? '' : ' '.repeat(Number(indent))}${line}`)
        .join('');
    const [, file, fileIndent] = (trimmed === undefined ? null : FILE.exec(action)) ?? [];
    if (file !== undefined)
      return indented(readFileSync(join((scope as { directory: string }).directory, file), 'utf8'), fileIndent!);
    const [, path, indent] = (trimmed === undefined ? null : BLOCK.exec(action)) ?? [];
    if (path === undefined) throw new Error(`not known in a template: ${action}`);
    return indented(stringify(resolvePath(scope, path)), indent!);
  });
  if (/\{\{|\}\}/.test(text.replaceAll(ACTION, ''))) throw new Error('braces are left over');
  return rendered;
}

function resolvePath(scope: object, path: string): unknown {
  let at: unknown = scope;
  for (const name of path.slice(1).split('.')) {
    at = (at as Record<string, unknown> | undefined)?.[name];
    if (at === undefined) throw new Error(`no value ${path}`);
  }
  return at;
}
