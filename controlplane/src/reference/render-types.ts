/** Renders schemas as HTML: a type in a few words, an object as a table of its fields. */
import { escapeHtml } from '../http/html-escape-and-csp-hash.js';
import { nameOfRef, type Schema } from './read-openapi-json.js';

/** Escapes a description, whose names between backticks become code. */
export const renderText = (text: string): string =>
  escapeHtml(text).replace(/`([^`]+)`/g, (_, name: string) => `<code>${name}</code>`);

export const renderCode = (text: string): string => `<code>${escapeHtml(text)}</code>`;
const typeLink = (name: string): string => `<a href="#type-${name}">${name}</a>`;

const literal = (value: unknown): string => renderCode(JSON.stringify(value));

/** Returns for example `array of Agent` or `string (uuid) or null`. */
export function renderType(schema: Schema): string {
  if (schema.$ref !== undefined) return typeLink(nameOfRef(schema.$ref));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' or ');
  if (schema.anyOf !== undefined) return schema.anyOf.map(renderType).join(' or ');
  const names = [schema.type ?? 'any'].flat();
  if (names.includes('array') && schema.items !== undefined) return `array of ${renderType(schema.items)}`;
  return names
    .map((name) => (name === 'null' || schema.format === undefined ? name : `${name} (${schema.format})`))
    .join(' or ');
}

/** Returns for example `0 to 100` or `at most 200 characters`; empty without bounds. */
function renderBounds({ minimum, maximum, minLength, maxLength, default: fallback }: Schema): string {
  const bounds = [
    range(minimum, maximum, ''),
    range(minLength, maxLength, ' characters'),
    fallback === undefined ? '' : `default ${JSON.stringify(fallback)}`,
  ];
  return escapeHtml(bounds.filter((text) => text !== '').join('; '));
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  const end = to === Number.MAX_SAFE_INTEGER ? undefined : to;
  if (from === undefined && end === undefined) return '';
  if (end === undefined) return `at least ${from}${unit}`;
  return from === undefined ? `at most ${end}${unit}` : `${from} to ${end}${unit}`;
}

/** Renders one row of a table of fields or parameters. */
export function renderFieldRow(name: string, schema: Schema, required: boolean, place = ''): string {
  const notes = [schema.description === undefined ? '' : renderText(schema.description), renderBounds(schema)];
  const mark = required ? ' <b title="required">*</b>' : '';
  return `<tr><td>${renderCode(name)}${mark}${place === '' ? '' : ` <small>${place}</small>`}<td>${renderType(schema)}<td>${notes
    .filter((note) => note !== '')
    .join(' <small>')}\n`;
}

/** Renders the fields of an object, including those of nested objects. */
export function renderFieldRows(schema: Schema, prefix = ''): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const inner = field.properties ?? field.items?.properties;
    const nested =
      inner === undefined ? '' : rowsOf({ properties: inner }, `${prefix}${name}${field.items ? '[]' : ''}.`);
    return renderFieldRow(prefix + name, field, schema.required?.includes(name) === true) + nested;
  });
  return rows.join('');
}

const rowsOf = renderFieldRows;

export const renderTable = (rows: string): string => (rows === '' ? '' : `<table>${rows}</table>`);
