/** Builds a provider's credentials from one secret or a JSON object, plus flags and prompts for the other fields. */

import type { Client } from '@acg/client/typed-api-client-throwing-errors';
import type { Invocation } from '../invocation/invocation.js';
import { usage } from '../terminal/cli-error.js';
import { promptSecret, promptText } from '../terminal/prompt.js';
import { readSecret, type SecretSource } from '../terminal/secret-input.js';
import { fetchAllRows } from './call-api-operation.js';
import { notFoundError } from './find-by-name.js';

interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly placeholder: string | null;
}

interface CredentialInput extends SecretSource {
  /** Fields that are not secret, such as a region. */
  readonly fields: readonly (readonly [string, string])[];
}

/** Returns the credential fields of a built-in or custom provider. */
export async function fetchCredentialFields(client: Client, providerSlug: string): Promise<readonly CredentialField[]> {
  const providers = await fetchAllRows(client, 'GET /v1/custom-providers', 'providers');
  const found = providers.find(({ slug }) => slug === providerSlug);
  if (found !== undefined) return found.credentialFields;
  throw notFoundError('provider', providerSlug, 'acg providers ls');
}

export async function readProviderCredentials(
  run: Invocation,
  fields: readonly CredentialField[],
  given: CredentialInput,
): Promise<Record<string, unknown>> {
  const secret = await readSecret(run.terminal, given);
  const credentials = {
    ...checkPlainFields(fields, given.fields),
    ...(secret === null ? {} : parseSecretFields(fields, secret)),
  };
  for (const { name, label, required, secret: hidden, placeholder } of fields) {
    if (!required || Object.hasOwn(credentials, name)) continue;
    const more = placeholder === null ? {} : { placeholder };
    const question = {
      message: label,
      flag: hidden ? '--key-stdin, --key-file or --key-env' : `--field ${name}=…`,
      ...more,
    };
    credentials[name] = hidden ? await promptSecret(run, question) : await promptText(run, question);
  }
  return credentials;
}

/** Rejects secret fields that came as arguments. */
function checkPlainFields(
  fields: readonly CredentialField[],
  pairs: readonly (readonly [string, string])[],
): Record<string, unknown> {
  for (const [name] of pairs) {
    const field = fields.find((known) => known.name === name);
    if (field === undefined) throw usage(`there is no field ${name}: ${fields.map((known) => known.name).join(', ')}`);
    if (field.secret)
      throw usage(`${name} is a secret, and others see arguments`, '--key-stdin, --key-file or --key-env');
  }
  return Object.fromEntries(pairs);
}

/** A plain secret fills the first secret field; a JSON object sets all fields. */
function parseSecretFields(fields: readonly CredentialField[], text: string): Record<string, unknown> {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      throw usage('the credentials start like JSON but cannot be parsed'); // the parser's message would quote them
    }
  }
  const first = fields.find(({ secret }) => secret);
  if (first === undefined) throw usage('this provider takes no key');
  return { [first.name]: text };
}
