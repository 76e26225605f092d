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

/** Fields of a stored credential, and of the ways in which the gateway obtains one itself. */
interface CredentialForms {
  readonly credentialFields: readonly CredentialField[];
  readonly methods: readonly { readonly name: string; readonly fields: readonly CredentialField[] }[];
}

/** Member of the credentials that names the method; absent: the credential is stored. */
const METHOD = 'method';

/** Returns the credential fields of a built-in or custom provider. */
export async function fetchCredentialForms(client: Client, providerSlug: string): Promise<CredentialForms> {
  const providers = await fetchAllRows(client, 'GET /v1/custom-providers', 'providers');
  const found = providers.find(({ slug }) => slug === providerSlug);
  if (found !== undefined) return found;
  throw notFoundError('provider', providerSlug, 'acg providers ls');
}

export async function readProviderCredentials(
  run: Invocation,
  forms: CredentialForms,
  given: CredentialInput,
): Promise<Record<string, unknown>> {
  const text = await readSecret(run.terminal, given);
  const json = text === null ? null : parseJson(text);
  const method = chooseMethod(forms, json?.[METHOD] ?? given.fields.find(([name]) => name === METHOD)?.[1]);
  const fields = method?.fields ?? forms.credentialFields;
  const pairs = given.fields.filter(([name]) => name !== METHOD);
  const credentials: Record<string, unknown> = {
    ...(method === null ? {} : { [METHOD]: method.name }),
    ...checkPlainFields(fields, pairs),
    ...(text === null ? {} : (json ?? toFirstSecret(fields, text))),
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

/** Null: the credential is stored. A provider without stored credentials has a method always. */
function chooseMethod({ credentialFields, methods }: CredentialForms, name: unknown) {
  if (name === undefined) return credentialFields.length === 0 ? (methods[0] ?? null) : null;
  const method = methods.find((one) => one.name === name);
  if (method !== undefined) return method;
  if (methods.length === 0) throw usage('this provider takes a stored credential only');
  throw usage(`method must be one of ${methods.map((one) => one.name).join(', ')}`);
}

/** A JSON object sets all fields; null: the text is a plain secret. */
function parseJson(text: string): Record<string, unknown> | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw usage('the credentials start like JSON but cannot be parsed'); // the parser's message would quote them
  }
}

function toFirstSecret(fields: readonly CredentialField[], text: string): Record<string, unknown> {
  const first = fields.find(({ secret }) => secret);
  if (first === undefined) throw usage('this provider takes no key');
  return { [first.name]: text };
}
