/** Rules of provider definitions that their schema cannot state. Returns every problem with its place. Pure. */
import { checkInjection } from './check-injection.js';
import { checkMethods } from './check-methods.js';
import { listTemplateFields } from './credential-template.js';
import { listInjectionTemplates, type Problem, type Report } from './definition-problem.js';
import { expandEnumerations } from './host-claims.js';
import { compileLinearRegex } from './linear-regex.js';
import type { ProviderRules } from './provider-definition.js';
import { isReservedHeader } from './reserved-headers.js';

/** A file, or a tenant's definition, which may leave out the probe. */
type Definition = Omit<ProviderRules, 'failure' | 'probe'> & Partial<Pick<ProviderRules, 'probe'>>;

/** Instructions of all expressions of a definition: an account's credentials meet each of them. */
const PROGRAM_SIZES_MAX = 2_000;

/** `definition` is valid by its schema. */
export function checkDefinition(definition: Definition): Problem[] {
  const problems: Problem[] = [];
  const report: Report = (pointer, message) => problems.push({ pointer, message });
  checkPatterns(definition, report);
  checkFields(definition, report);
  problems.push(...checkMethods(definition));
  checkOrigins(definition, report);
  for (const [i, rule] of definition.inject.entries()) {
    const place = `/inject/${i}`;
    if (!checkInjection(definition.inject, i, place, report)) continue;
    for (const template of listInjectionTemplates(rule))
      checkFieldNames(definition, listTemplateFields(template), place, report);
    if (rule.append && definition.drop?.some(({ header }) => header === rule.header))
      report(place, `drop removes ${rule.header}`);
  }
  definition.drop?.forEach(({ header, query, with: field }, i) => {
    if ((header === undefined) === (query === undefined)) report(`/drop/${i}`, 'must have either header or query');
    if (header !== undefined && isReservedHeader(header)) report(`/drop/${i}/header`, `cannot be ${header}`);
    if (field !== undefined) checkFieldNames(definition, [field], `/drop/${i}/with`, report);
  });
  checkOriginNames(definition, report);
  const { probe } = definition;
  for (const name of Object.keys((probe !== undefined && 'path' in probe && probe.headers) || {})) {
    if (isReservedHeader(name)) report(`/probe/headers/${name}`, 'cannot be set by a probe');
  }
  return problems;
}

function checkFields({ credentials, inject }: Definition, report: Report): void {
  const inPath = new Set(inject.flatMap(({ path }) => (path === undefined ? [] : listTemplateFields(path))));
  credentials.fields.forEach(({ name, secret, pattern, values, looksLike }, i) => {
    const place = `/credentials/fields/${i}`;
    if (credentials.fields.findIndex((field) => field.name === name) !== i)
      report(`${place}/name`, `is used twice: ${name}`);
    if (pattern !== undefined && !/^\^.*\$$/s.test(pattern))
      report(`${place}/pattern`, 'must begin with ^ and end in $');
    if (pattern !== undefined && looksLike === undefined) report(place, 'a pattern needs looksLike');
    if (values !== undefined && (secret || pattern !== undefined))
      report(`${place}/values`, 'goes neither with secret nor with pattern');
    // Every secret has 8 characters or more, so a path segment is never a dot segment.
    if (inPath.has(name) && !secret) report(`${place}/secret`, 'must be true: the field goes into the path');
  });
}

/** Every regular expression. */
function listPatterns({ credentials: { fields, methods = [] }, origins, probe }: Definition) {
  const patterns: { readonly pattern: string | undefined; readonly pointer: string }[] = [];
  for (const [i, { pattern }] of fields.entries())
    patterns.push({ pattern, pointer: `/credentials/fields/${i}/pattern` });
  for (const [i, method] of methods.entries()) {
    for (const [at, { pattern }] of method.fields.entries())
      patterns.push({ pattern, pointer: `/credentials/methods/${i}/fields/${at}/pattern` });
  }
  for (const [name, origin] of Object.entries(origins)) {
    if (typeof origin === 'string') continue;
    for (const [i, { when = {} }] of origin.entries()) {
      for (const [field, pattern] of Object.entries(when))
        patterns.push({ pattern, pointer: `/origins/${name}/${i}/when/${field}` });
    }
  }
  const refused = probe !== undefined && 'refused' in probe ? probe.refused : [];
  for (const [i, { body }] of refused.entries()) patterns.push({ pattern: body, pointer: `/probe/refused/${i}/body` });
  return patterns;
}

function checkPatterns(definition: Definition, report: Report): void {
  let size = 0;
  for (const { pattern, pointer } of listPatterns(definition)) {
    if (pattern === undefined) continue;
    try {
      size += compileLinearRegex(pattern).programSize();
    } catch (error) {
      report(pointer, `is no regular expression of RE2: ${(error as Error).message}`);
    }
    if (size <= PROGRAM_SIZES_MAX) continue;
    report(pointer, 'makes the regular expressions of this provider too large together');
    return;
  }
}

function checkFieldNames(definition: Definition, names: readonly string[], pointer: string, report: Report): void {
  for (const name of names) {
    if (!definition.credentials.fields.some((field) => field.name === name))
      report(pointer, `names the unknown field ${name}`);
  }
}

function checkOrigins(definition: Definition, report: Report): void {
  for (const [name, origin] of Object.entries(definition.origins)) {
    const place = `/origins/${name}`;
    if (typeof origin === 'string') {
      checkAddress(definition, origin, place, report);
      continue;
    }
    origin.forEach(({ when, url }, i) => {
      checkAddress(definition, url, `${place}/${i}/url`, report);
      for (const field of Object.keys(when ?? {}))
        checkFieldNames(definition, [field], `${place}/${i}/when/${field}`, report);
    });
  }
}

/** The part of a host behind its last field: a registered name below which the vendor alone creates hosts. */
const FIXED_END = /^[a-z0-9-]*(?:\.[a-z0-9-]+){2,}(?::\d{1,5})?$/;

const hasFixedEnd = (address: string): boolean => {
  const end = address.lastIndexOf('}');
  return end === -1 || FIXED_END.test(address.slice(end + 1));
};

function isOrigin(address: string): boolean {
  const sample = address.replaceAll(/\{[a-zA-Z0-9]+\}/g, 'x');
  return URL.canParse(sample) && new URL(sample).origin === sample;
}

function checkAddress(definition: Definition, address: string, pointer: string, report: Report): void {
  const names = listTemplateFields(address);
  checkFieldNames(definition, names, pointer, report);
  for (const name of names) {
    if (definition.credentials.fields.find((field) => field.name === name)?.secret)
      report(pointer, `holds the secret ${name}`);
  }
  if (address.startsWith('{')) {
    const field = definition.credentials.fields.find(({ name }) => name === names[0]);
    if (field !== undefined && field.kind !== 'url') report(pointer, `${field.name} must be of kind url`);
    return;
  }
  const expanded = expandEnumerations(address, definition.credentials.fields);
  if (!expanded.every(isOrigin)) report(pointer, 'must be an origin in lower case: scheme, host and port');
  else if (!expanded.every(hasFixedEnd))
    report(pointer, 'must end in a fixed domain of the vendor, such as .example.com');
  for (const name of names) {
    const field = definition.credentials.fields.find((one) => one.name === name);
    if (field?.kind === 'url') report(pointer, `${name} is a whole address: use it alone`);
  }
}

function checkOriginNames(
  { origins, inject, usage, models, sensitive, opaque, probe }: Definition,
  report: Report,
): void {
  const check = (list: readonly { readonly origin?: string | undefined }[], place: string): void =>
    list.forEach(({ origin }, i) => {
      if (origin !== undefined && !Object.hasOwn(origins, origin))
        report(`${place}/${i}/origin`, `names the unknown origin ${origin}`);
    });
  if (Array.isArray(usage)) check(usage, '/usage');
  if (Array.isArray(models)) check(models, '/models');
  check(inject, '/inject');
  check(sensitive ?? [], '/sensitive');
  check(opaque ?? [], '/opaque');
  if (probe !== undefined && 'path' in probe && probe.origin !== undefined && !Object.hasOwn(origins, probe.origin))
    report('/probe/origin', `names the unknown origin ${probe.origin}`);
}
