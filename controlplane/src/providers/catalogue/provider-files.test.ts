import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '@acg/base/env-reader';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadCatalogue } from './catalogue.js';
import { BUILT_IN_DIRECTORY } from './load-provider-files.js';
import { ProviderFile } from './provider-definition.js';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'acg-provider-files-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const RESEND = readFileSync(join(BUILT_IN_DIRECTORY, 'resend.json'), 'utf8');

/** A valid file of a provider `acme`, with one text replaced by another. */
function acme(replaced = '', by = ''): string {
  const text = RESEND.replace('"slug": "resend"', '"slug": "acme"')
    .replace('"name": "Resend"', '"name": "Acme"')
    .replace('https://api.resend.com', 'https://api.acme.example.com');
  expect(text).toContain(replaced);
  return text.replace(replaced, by);
}

/** The problems of a start with this file in PROVIDERS_DIR, which is called `acme.json`. */
function problemsOf(content: string, name = 'acme.json'): string[] {
  const folder = mkdtempSync(join(directory, 'case-'));
  writeFileSync(join(folder, name), content);
  try {
    loadCatalogue(null, folder);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).problems.map((problem) => problem.replace(`${folder}/`, ''));
  }
}

test('provider.schema.json is the schema of the code', async () => {
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', ...ProviderFile };
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../providers/provider.schema.json', import.meta.url)),
  );
});

test('provider files: editors accept what the gateway accepts', () => {
  const schema = JSON.parse(readFileSync(join(BUILT_IN_DIRECTORY, 'provider.schema.json'), 'utf8'));
  const validate = new Ajv({ allowUnionTypes: true }).compile(schema);
  expect(validate(JSON.parse(acme())), JSON.stringify(validate.errors)).toBe(true);
});

test('provider files: PROVIDERS_DIR adds a provider, in the order of names behind the first six', () => {
  const folder = mkdtempSync(join(directory, 'added-'));
  writeFileSync(join(folder, 'acme.json'), acme());
  const catalogue = loadCatalogue(null, folder);
  expect(catalogue.slugs.slice(0, 6)).toEqual(['openai', 'anthropic', 'supabase', 'vercel', 'resend', 's3']);
  expect(catalogue.slugs.indexOf('acme')).toBeGreaterThanOrEqual(6);
  expect(catalogue.get('acme')!.address({ apiKey: 're_0123456789' })).toEqual({
    baseUrl: 'https://api.acme.example.com',
    tenantGiven: false,
  });
  expect(catalogue.claimsHost('api.acme.example.com')).toBe(true);
  expect(catalogue.claimsHost('api.acme.example.org')).toBe(false);
});

test.each<[string, string, string, RegExp]>([
  ['a syntax error', '"category": "email",', '"category": "email" "docs"', /^acme.json:5: /],
  [
    'an unknown member',
    '"category": "email",',
    '"category": "email", "colour": "red",',
    /^acme.json:1: unknown field "colour"$/,
  ],
  [
    'a wrong value',
    '"category": "email",',
    '"category": "mail",',
    /^acme.json:5: category must be one of model, storage/,
  ],
  [
    'a member twice',
    '"category": "email",',
    '"category": "email",\n"category": "email",',
    /^acme.json:6: category is named twice$/,
  ],
  [
    'a nested value',
    '"secret": true',
    '"secret": "yes"',
    /^acme.json:1[0-9]: credentials.fields.0.secret must be true or false$/,
  ],
  [
    'an unknown field in a template',
    'Bearer {apiKey}',
    'Bearer {key}',
    /^acme.json:\d+: inject.0 names the unknown field key$/,
  ],
  ['a slug that is not the name of the file', '"slug": "acme"', '"slug": "acme2"', /slug must be the name of the file/],
  ['a path in an origin', 'acme.example.com"', 'acme.example.com/v1"', /^acme.json:\d+: origins.default/],
  [
    'a host in upper case',
    'api.acme.example.com',
    'API.acme.example.com',
    /origins.default must be an origin in lower case/,
  ],
  [
    'a field as the end of a host',
    'https://api.acme.example.com',
    'https://api.{apiKey}',
    /must end in a fixed domain/,
  ],
  [
    'a secret in a host',
    'https://api.acme.example.com',
    'https://{apiKey}.acme.example.com',
    /origins.default holds the secret apiKey/,
  ],
  ['a field as a whole address', 'https://api.acme.example.com', '{apiKey}', /apiKey must be of kind url/],
  ['no default origin', '"default": "https', '"api": "https', /origins.default is required/],
  [
    'the header of the gateway',
    '"header": "authorization"',
    '"header": "x-gateway-agent"',
    /inject.0 cannot inject into x-gateway-agent/,
  ],
  ...(
    [
      [
        'a field in an appended value',
        '"x-list", "value": "{apiKey}"',
        /inject.1.value cannot hold fields with append/,
      ],
      ['two appended members', '"x-list", "value": "a,b"', /inject.1.value must be one member of a list/],
      ['an appended credential header', '"x-api-key", "value": "a"', /inject.1 cannot append to x-api-key/],
      ['an appended header that another rule sets', '"x-b", "value": "a"', /inject.1 another rule sets x-b/],
    ] as const
  ).map(([title, rule, problem]): [string, string, string, RegExp] => [
    title,
    '"inject": [',
    `"inject": [{ "header": "x-b", "value": "{apiKey}" }, { "header": ${rule}, "append": true },`,
    problem,
  ]),
  [
    'an appended query parameter',
    '"inject": [',
    '"inject": [{ "query": "k", "value": "{apiKey}", "append": true },',
    /inject.0 alternatives, alsoBearerUnlessUserJwt and append go with header only/,
  ],
  [
    'two kinds of injection',
    '"header": "authorization"',
    '"header": "authorization", "query": "key"',
    /inject.0 must have exactly one of header, query/,
  ],
  [
    'an expression with lookahead',
    '(?:invalid|missing)',
    '(?=invalid)',
    /probe.refused.0.body is no regular expression of RE2/,
  ],
  [
    'a backtracking pattern without its description',
    '"secret": true,',
    '"pattern": "^a+$", "secret": true,',
    /a pattern needs looksLike/,
  ],
  [
    'a pattern without anchors',
    '"secret": true,',
    '"pattern": "a+", "looksLike": "aaa", "secret": true,',
    /must begin with \^ and end in \$/,
  ],
  [
    'credentials for tests that the rules reject',
    '"apiKey": "re_0123456789abcdefghij"',
    '"apiKey": "short"',
    /tests.credentials: credentials.apiKey must have at least 8/,
  ],
  [
    'no reason for having no sensitive calls',
    '"sensitive"',
    '"opaque"',
    /sensitive must list the calls, or reviewed.withoutSensitive/,
  ],
  ['the slug of another file', '"slug": "acme"', '"slug": "resend"', /slug must be the name of the file/],
  [
    'the host of another provider',
    'api.acme.example.com',
    'api.openai.com',
    /host api.openai.com belongs to .*openai.json$/,
  ],
  [
    'a host that another one’s field reaches',
    'api.acme.example.com',
    's3.eu-west-1.amazonaws.com',
    /belongs to .*s3.json$/,
  ],
  [
    'the host of another provider with a dot at its end',
    'api.acme.example.com',
    'api.openai.com.',
    /host api.openai.com belongs to .*openai.json$/,
  ],
  [
    'a secret as a whole address',
    'https://api.acme.example.com',
    '{apiKey}',
    /origins.default holds the secret apiKey/,
  ],
  [
    'prices that the library does not have',
    '"reviewed"',
    '"prices": "opneai",\n  "reviewed"',
    /^acme.json:\d\d: prices: the price library has no provider "opneai"$/,
  ],
  [
    'an expression that is slow to match',
    '(?:invalid|missing)',
    '[a-z]{0,1000}',
    /probe.refused.0.body is no regular expression of RE2: it is too large/,
  ],
  [
    'a probe that sets a header of the connection',
    '"probe": {',
    '"probe": { "headers": { "host": "x" },',
    /^acme.json:\d+: probe.headers.host cannot be set by a probe$/,
  ],
  [
    'a probe whose header would end the line',
    '"probe": {',
    '"probe": { "headers": { "accept": "a\\r\\nb: c" },',
    /^acme.json:\d+: probe.headers.accept is blank or has characters that are not allowed$/,
  ],
  [
    'a rule for an unknown origin',
    '"call": "* /api-keys/**"',
    '"origin": "files", "call": "* /api-keys/**"',
    /sensitive.0.origin names the unknown origin files/,
  ],
])('provider files: %s stops the start', (_name, replaced, by, problem) => {
  expect(problemsOf(acme(replaced, by)).join('\n')).toMatch(problem);
});

test('provider files: a slug that a built-in file has stops the start', () => {
  const folder = mkdtempSync(join(directory, 'twin-'));
  cpSync(join(BUILT_IN_DIRECTORY, 'resend.json'), join(folder, 'resend.json'));
  expect(() => loadCatalogue(null, folder)).toThrow(/resend.json:3: slug resend belongs to .*providers\/resend.json/);
});

test('provider files: a directory that cannot be read stops the start', () => {
  expect(() => loadCatalogue(null, join(directory, 'none'))).toThrow(/PROVIDERS_DIR: ENOENT/);
});
