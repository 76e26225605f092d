import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '@acg/base/env-reader';
import { expect, test } from 'vitest';
import { Catalogue, loadCatalogue } from './catalogue.js';
import type { Credentials } from './credential-template.js';
import { parseCredentials } from './parse-credentials.js';

const catalogue = new Catalogue();

function withFile<T>(content: string, run: (file: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'acg-catalogue-'));
  try {
    writeFileSync(join(directory, 'providers.json'), content);
    return run(join(directory, 'providers.json'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const loadWith = (content: string): Catalogue => withFile(content, (file) => loadCatalogue(file, null));

const parse = (slug: string, given: Record<string, unknown>): Credentials =>
  parseCredentials(catalogue.get(slug)!.rules, given);

test('catalogue: every provider is found by its slug, which no other one has', () => {
  const slugs = catalogue.providers.map((provider) => provider.slug);
  expect(slugs).toEqual(expect.arrayContaining(['openai', 'anthropic', 'supabase', 'vercel', 'resend', 's3']));
  expect(new Set(slugs).size).toBe(slugs.length);
  for (const provider of catalogue.providers) expect(catalogue.get(provider.slug)).toBe(provider);
  expect(catalogue.get('echo')).toBeNull();
});

test.each([
  [
    'openai',
    { key: 'sk-12345678' },
    'unknown field "key" in credentials: this provider takes apiKey, organization?, project?',
  ],
  ['openai', {}, 'credentials.apiKey is required: this provider takes apiKey, organization?, project?'],
  ['openai', { apiKey: 'short' }, 'credentials.apiKey must have at least 8 characters'],
  ['openai', { apiKey: 12345678 }, 'credentials.apiKey must be string'],
  ['openai', { apiKey: null }, 'credentials.apiKey must be string'],
  ['openai', { apiKey: '' }, 'credentials.apiKey must have at least 8 characters'],
  ['openai', { apiKey: 'sk-1234\r\nx: y' }, /^credentials.apiKey must be printable ASCII/],
  ['openai', { apiKey: ' sk-12345678' }, /^credentials.apiKey must be printable ASCII/],
  ['openai', { apiKey: 'sk-1234 5678' }, 'credentials.apiKey must be printable ASCII text without spaces'],
  ['openai', { apiKey: 'sk-12345678\u00e9' }, 'credentials.apiKey must be printable ASCII text without spaces'],
  ['openai', { apiKey: 'sk-12345678', organization: ' org' }, /^credentials.organization must be printable ASCII/],
  ['openai', { apiKey: 'x'.repeat(8_193) }, 'credentials.apiKey must have at most 8192 characters'],
  ['supabase', { apiKey: 'sb_12345678' }, 'credentials.url is required: this provider takes apiKey, url'],
  ['s3', { accessKeyId: 'AKIA', secretAccessKey: 'x'.repeat(40) }, /^credentials.region is required/],
  [
    's3',
    { accessKeyId: 'AKIA', secretAccessKey: 'x'.repeat(40), region: 'evil.host/' },
    /^credentials.region must be a region/,
  ],
])('credentials: %s %j is refused, by name', (slug, given, message) => {
  expect(() => parse(slug, given)).toThrow(message);
});

test('credentials: an empty optional field counts as left out', () => {
  expect(parse('openai', { apiKey: 'sk-12345678', organization: '' })).toEqual({ apiKey: 'sk-12345678' });
});

test.each<[string, Credentials, string, boolean]>([
  ['openai', { apiKey: 'k' }, 'https://api.openai.com', false],
  ['supabase', { apiKey: 'k', url: 'https://ref.supabase.co' }, 'https://ref.supabase.co', true],
  ['s3', { region: 'eu-west-1' }, 'https://s3.eu-west-1.amazonaws.com', false],
  ['s3', { region: 'cn-north-1' }, 'https://s3.cn-north-1.amazonaws.com.cn', false],
  [
    's3',
    { region: 'auto', endpoint: 'https://x.r2.cloudflarestorage.com' },
    'https://x.r2.cloudflarestorage.com',
    true,
  ],
])('catalogue: the address of %s %j is %s', (slug, credentials, baseUrl, tenantGiven) => {
  expect(catalogue.get(slug)!.address(credentials)).toEqual({ baseUrl, tenantGiven });
});

test('catalogue: a base URL of the operator wins over a tenant’s and is not checked', () => {
  const overridden = loadWith('{"s3":{"baseUrl":"http://127.0.0.1:9001/"}}');
  const credentials = { region: 'auto', endpoint: 'https://tenant.example' };
  expect(overridden.get('s3')!.address(credentials)).toEqual({ baseUrl: 'http://127.0.0.1:9001', tenantGiven: false });
  expect(overridden.get('openai')!.fixedAddress()).toBe('https://api.openai.com');
});

test('catalogue: a stand-in is one by what everybody may know of it', () => {
  const standInCredentials = { apiKey: 'sk-known-to-everybody' };
  const file = JSON.stringify({ openai: { baseUrl: 'http://127.0.0.1:9001', standInCredentials } });
  expect(loadWith(file).standIns).toEqual([{ providerSlug: 'openai', credentials: standInCredentials }]);
  expect(loadWith('{"openai":{"baseUrl":"http://127.0.0.1:9001"}}').standIns).toEqual([]);
});

test.each([
  ['{"openai":{"baseUrl":"http://x","standInCredentials":"k"}}', /standInCredentials must be an object/],
  ['{"openai":{"baseUrl":"http://x","standInCredentials":{"key":"k"}}}', /standInCredentials: unknown field "key"/],
  ['{', /PROVIDERS_FILE: /],
  ['[]', /must hold a JSON object/],
  ['{"openia":{"baseUrl":"http://x"}}', /no built-in provider is called "openia"/],
  ['{"openai":{"url":"http://x"}}', /openai has the unknown field "url"/],
  ['{"openai":{"baseUrl":"ftp://x"}}', /openai.baseUrl must be/],
  ['{"openai":{"baseUrl":"http://u:p@x"}}', /openai.baseUrl must be/],
  ['{"openai":{"baseUrl":"http://x","origins":{"files":"http://y"}}}', /openai has no further origin "files"/],
  ['{"openai":{"baseUrl":"http://x","origins":[]}}', /openai.origins must be an object/],
])('catalogue: the file %s is refused in one line', (content, message) => {
  expect(() => loadWith(content)).toThrow(ConfigError);
  expect(() => loadWith(content)).toThrow(message);
});
