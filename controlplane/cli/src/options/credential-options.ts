/** Options for the source of a provider credential. Arguments are never accepted, because `ps` shows them. */
import { Option } from 'commander';
import { fetchCredentialForms, readProviderCredentials } from '../api/provider-credential-input.js';
import type { Invocation } from '../invocation/invocation.js';
import { parsePair } from './page-options-and-value-parsers.js';

type Pair = readonly [string, string];

export interface CredentialOptions {
  readonly keyStdin?: true;
  readonly keyFile?: string;
  readonly keyEnv?: string;
  readonly field?: readonly Pair[];
}

export const CREDENTIAL_OPTIONS: readonly Option[] = [
  new Option('--key-stdin', 'read the key from stdin, or a JSON object of all fields'),
  new Option('--key-file <file>', 'read it from a file; - for stdin'),
  new Option('--key-env <name>', 'read it from a variable'),
  new Option(
    '--field <name=value>',
    'what is no secret, e.g. region=us-east-1 or method=connect; repeatable',
  ).argParser((text, before: readonly Pair[] = []) => [...before, parsePair(text)]),
];

/** Reads the credentials of a provider from the source that the options name; prompts for what is missing. */
export async function readOptionCredentials(
  run: Invocation,
  providerSlug: string,
  { keyStdin: stdin, keyFile: file, keyEnv: env, field: fields = [] }: CredentialOptions,
): Promise<Record<string, unknown>> {
  const known = await fetchCredentialForms(await run.getClient(), providerSlug);
  return readProviderCredentials(run, known, { stdin, file, env, fields });
}
