/** The built-in providers: the provider files with the operator's addresses from PROVIDERS_FILE. */
import { readFileSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import type { Credentials } from './credential-template.js';
import { type HostPattern, isClaimedHost, listHostPatterns } from './host-claims.js';
import { loadProviderFiles } from './load-provider-files.js';
import { type PresetCalls, readPresetCalls, resolveModelCalls } from './model-presets.js';
import { parseCredentials } from './parse-credentials.js';
import { DEFAULT_ORIGIN, Provider } from './provider.js';
import { MODEL_PRESETS, type ProviderFile } from './provider-definition.js';

/** A local stand-in for a provider, for trials. Its credentials are public. */
interface StandIn {
  readonly providerSlug: string;
  readonly credentials: Credentials;
}

interface Override {
  /** By origin. */
  readonly baseUrls: ReadonlyMap<string, string>;
  /** Token endpoints by method. */
  readonly tokenUrls: ReadonlyMap<string, string>;
  /** Null for the real provider. */
  readonly standIn: StandIn | null;
}

type Overrides = ReadonlyMap<string, Override>;

export class Catalogue {
  readonly providers: readonly Provider[];
  readonly standIns: readonly StandIn[];
  readonly presetCalls: PresetCalls;
  readonly #bySlug: ReadonlyMap<string, Provider>;
  readonly #hosts: readonly HostPattern[];

  constructor(files: readonly ProviderFile[] = loadProviderFiles(null), overrides: Overrides = new Map()) {
    this.presetCalls = readPresetCalls(files, MODEL_PRESETS);
    this.providers = files.map((file) => {
      const baseUrls = overrides.get(file.slug)?.baseUrls ?? new Map<string, string>();
      return new Provider({
        slug: file.slug,
        displayName: file.name,
        rules: file,
        file,
        // The operator's URL overrides a tenant's and is not checked against private networks.
        addresses: new Map(Array.from(baseUrls, ([origin, baseUrl]) => [origin, { baseUrl, tenantGiven: false }])),
        tokenUrls: overrides.get(file.slug)?.tokenUrls ?? new Map(),
        modelCalls: resolveModelCalls(file.models, this.presetCalls),
      });
    });
    this.standIns = [...overrides.values()].flatMap(({ standIn }) => standIn ?? []);
    this.#bySlug = new Map(this.providers.map((provider) => [provider.slug, provider]));
    this.#hosts = files.flatMap(listHostPatterns);
  }

  get(slug: string): Provider | null {
    return this.#bySlug.get(slug) ?? null;
  }

  get slugs(): readonly string[] {
    return this.providers.map(({ slug }) => slug);
  }

  /** Whether a built-in provider serves this host. */
  claimsHost(host: HostPattern): boolean {
    return isClaimedHost(host, this.#hosts);
  }
}

/**
 * Throws {@link ConfigError} that describes what is wrong with a file. `overrides`: PROVIDERS_FILE, `directory`:
 * PROVIDERS_DIR; null for none.
 */
export function loadCatalogue(overrides: string | null, directory: string | null): Catalogue {
  const files = loadProviderFiles(directory);
  return new Catalogue(files, overrides === null ? new Map() : parseOverrides(readOverrides(overrides), files));
}

function readOverrides(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw providersFileError((error as Error).message);
  }
}

const OVERRIDE_FIELDS = ['baseUrl', 'origins', 'tokenUrls', 'standInCredentials'];

function parseOverrides(document: unknown, files: readonly ProviderFile[]): Overrides {
  if (!isObject(document))
    throw providersFileError('must hold a JSON object such as {"openai":{"baseUrl":"http://127.0.0.1:9001"}}');
  const overrides = new Map<string, Override>();
  for (const [slug, entry] of Object.entries(document)) {
    const file = files.find((one) => one.slug === slug);
    if (file === undefined) throw providersFileError(`no built-in provider is called ${JSON.stringify(slug)}`);
    if (!isObject(entry)) throw providersFileError(`${slug} must be an object with baseUrl`);
    const other = Object.keys(entry).find((key) => !OVERRIDE_FIELDS.includes(key));
    if (other !== undefined) throw providersFileError(`${slug} has the unknown field ${JSON.stringify(other)}`);
    overrides.set(slug, {
      baseUrls: parseBaseUrls(file, entry),
      tokenUrls: parseTokenUrls(file, entry.tokenUrls),
      standIn: parseStandIn(file, entry.standInCredentials),
    });
  }
  return overrides;
}

function parseBaseUrls(file: ProviderFile, { baseUrl, origins = {} }: Record<string, unknown>): Map<string, string> {
  const { slug } = file;
  const baseUrls = new Map([[DEFAULT_ORIGIN, parseBaseUrl(`${slug}.baseUrl`, baseUrl)]]);
  if (!isObject(origins)) throw providersFileError(`${slug}.origins must be an object with a URL per origin`);
  for (const [origin, url] of Object.entries(origins)) {
    if (origin === DEFAULT_ORIGIN || !Object.hasOwn(file.origins, origin))
      throw providersFileError(`${slug}.origins: ${slug} has no further origin ${JSON.stringify(origin)}`);
    baseUrls.set(origin, parseBaseUrl(`${slug}.origins.${origin}`, url));
  }
  return baseUrls;
}

function parseTokenUrls({ slug, credentials }: ProviderFile, given: unknown = {}): Map<string, string> {
  if (!isObject(given)) throw providersFileError(`${slug}.tokenUrls must be an object with a URL per method`);
  const urls = new Map<string, string>();
  for (const [name, url] of Object.entries(given)) {
    if (!credentials.methods?.some((method) => method.name === name))
      throw providersFileError(`${slug}.tokenUrls: ${slug} has no method ${JSON.stringify(name)}`);
    urls.set(name, parseBaseUrl(`${slug}.tokenUrls.${name}`, url));
  }
  return urls;
}

function parseBaseUrl(name: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !plain || !/^https?:$/.test(url.protocol)) {
    throw providersFileError(`${name} must be an http:// or https:// URL without user, query or fragment`);
  }
  return url.href.replace(/\/+$/, '');
}

function parseStandIn(file: ProviderFile, value: unknown): StandIn | null {
  const { slug } = file;
  if (value === undefined) return null;
  if (!isObject(value))
    throw providersFileError(`${slug}.standInCredentials must be an object with the fields of its credentials`);
  try {
    return { providerSlug: slug, credentials: parseCredentials(file, value) };
  } catch (error) {
    throw providersFileError(`${slug}.standInCredentials: ${(error as Error).message}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const providersFileError = (problem: string): ConfigError => new ConfigError([`PROVIDERS_FILE: ${problem}`]);
