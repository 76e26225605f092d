/** Loads the built-in providers with the operator's overrides from PROVIDERS_FILE (docs/contract.md#providers). */
import { readFileSync } from 'node:fs';
import { ConfigError } from '@acg/base/env-reader';
import { anthropic } from './anthropic.js';
import type { BuiltInProvider, Credentials } from './built-in-provider.js';
import { openai } from './openai.js';
import { parseCredentials } from './parse-credentials.js';
import { resend } from './resend.js';
import { s3 } from './s3.js';
import { supabase } from './supabase.js';
import { vercel } from './vercel.js';

const BUILT_IN: readonly BuiltInProvider[] = [openai, anthropic, supabase, vercel, resend, s3];
export const BUILT_IN_SLUGS: ReadonlySet<string> = new Set(BUILT_IN.map((provider) => provider.slug));

/** A local stand-in for a provider, for trials. Its credentials are public. */
interface StandIn {
  readonly providerSlug: string;
  readonly credentials: Credentials;
}

interface Override {
  readonly baseUrl: string;
  /** Null for the real provider. */
  readonly standIn: StandIn | null;
}

export class Catalogue {
  readonly #bySlug: ReadonlyMap<string, BuiltInProvider>;

  constructor(
    readonly providers: readonly BuiltInProvider[] = BUILT_IN,
    readonly standIns: readonly StandIn[] = [],
  ) {
    this.#bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  }

  get(slug: string): BuiltInProvider | null {
    return this.#bySlug.get(slug) ?? null;
  }
}

/** Throws {@link ConfigError} that describes what is wrong with the file. `file` null: no overrides. */
export function loadCatalogue(file: string | null): Catalogue {
  if (file === null) return new Catalogue();
  const overrides = parseOverrides(readOverrides(file));
  return new Catalogue(
    BUILT_IN.map((provider) => {
      const baseUrl = overrides.get(provider.slug)?.baseUrl;
      // The operator's URL overrides a tenant's and is not checked against private networks.
      return baseUrl === undefined
        ? provider
        : { ...provider, baseUrl, address: () => ({ baseUrl, tenantGiven: false }) };
    }),
    [...overrides.values()].flatMap(({ standIn }) => standIn ?? []),
  );
}

function readOverrides(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw providersFileError((error as Error).message);
  }
}

function parseOverrides(document: unknown): ReadonlyMap<string, Override> {
  if (!isObject(document))
    throw providersFileError('must hold a JSON object such as {"openai":{"baseUrl":"http://127.0.0.1:9001"}}');
  const overrides = new Map<string, Override>();
  for (const [slug, entry] of Object.entries(document)) {
    const provider = BUILT_IN.find((one) => one.slug === slug);
    if (provider === undefined) throw providersFileError(`no built-in provider is called ${JSON.stringify(slug)}`);
    if (!isObject(entry)) throw providersFileError(`${slug} must be an object with baseUrl`);
    const other = Object.keys(entry).find((key) => key !== 'baseUrl' && key !== 'standInCredentials');
    if (other !== undefined) throw providersFileError(`${slug} has the unknown field ${JSON.stringify(other)}`);
    overrides.set(slug, {
      baseUrl: parseBaseUrl(slug, entry.baseUrl),
      standIn: parseStandIn(provider, entry.standInCredentials),
    });
  }
  return overrides;
}

function parseBaseUrl(slug: string, value: unknown): string {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  const plain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !plain || !/^https?:$/.test(url.protocol)) {
    throw providersFileError(`${slug}.baseUrl must be an http:// or https:// URL without user, query or fragment`);
  }
  return url.href.replace(/\/+$/, '');
}

function parseStandIn({ slug, credentialFields }: BuiltInProvider, value: unknown): StandIn | null {
  if (value === undefined) return null;
  if (!isObject(value))
    throw providersFileError(`${slug}.standInCredentials must be an object with the fields of its credentials`);
  try {
    return { providerSlug: slug, credentials: parseCredentials(credentialFields, value) };
  } catch (error) {
    throw providersFileError(`${slug}.standInCredentials: ${(error as Error).message}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const providersFileError = (problem: string): ConfigError => new ConfigError([`PROVIDERS_FILE: ${problem}`]);
