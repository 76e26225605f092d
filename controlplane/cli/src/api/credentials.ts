/** A provider's credentials out of what was given: one secret, or a JSON object; the rest from flags and questions. */
import type { Client } from '@acg/client/client';
import { everyRow } from '@acg/client/every-row';
import type { Invocation } from '../invocation/invocation.js';
import { askSecret, askText } from '../terminal/ask.js';
import { EXIT, Failure, usage } from '../terminal/failure.js';
import { readSecret, type SecretSource } from '../terminal/secret-input.js';
import { collected, type PageQuery } from './lookup.js';

interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly placeholder: string | null;
}

export interface GivenCredentials extends SecretSource {
  /** What is no secret, e.g. a region. */
  readonly fields: readonly (readonly [string, string])[];
}

/** The fields of a built-in provider's or a custom one's credentials. */
export async function credentialFieldsOf(client: Client, providerSlug: string): Promise<readonly CredentialField[]> {
  const load = (page: PageQuery) => client.get('/v1/custom-providers', { params: { query: page } });
  const found = (await collected(everyRow(load, (page) => page.providers))).find(({ slug }) => slug === providerSlug);
  if (found !== undefined) return found.credentialFields;
  throw new Failure(EXIT.notFound, `provider not found: ${providerSlug}`, { status: 404, hint: 'acg providers ls' });
}

export async function readCredentials(
  run: Invocation,
  fields: readonly CredentialField[],
  given: GivenCredentials,
): Promise<Record<string, unknown>> {
  const secret = await readSecret(run.terminal, given);
  const credentials = {
    ...plainFields(fields, given.fields),
    ...(secret === null ? {} : secretFields(fields, secret)),
  };
  for (const { name, label, required, secret: hidden, placeholder } of fields) {
    if (!required || Object.hasOwn(credentials, name)) continue;
    const more = placeholder === null ? {} : { placeholder };
    const question = {
      message: label,
      flag: hidden ? '--key-stdin, --key-file or --key-env' : `--field ${name}=…`,
      ...more,
    };
    credentials[name] = hidden ? await askSecret(run, question) : await askText(run, question);
  }
  return credentials;
}

/** From arguments, so no secrets. */
function plainFields(
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

/** One secret is that of the first secret field; an object has them all. */
function secretFields(fields: readonly CredentialField[], text: string): Record<string, unknown> {
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch {
      throw usage('the credentials begin like JSON but are none'); // the parser would quote them
    }
  }
  const first = fields.find(({ secret }) => secret);
  if (first === undefined) throw usage('this provider takes no key');
  return { [first.name]: text };
}
