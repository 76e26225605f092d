/**
 * The methods of a provider file: ways in which the gateway mints the credential of an account
 * (docs/minted-credentials.md). An account states its method in the member `method` of its credentials. Pure.
 */
import {
  type Credentials,
  encodePathSegment,
  fieldValue,
  isHostPart,
  listTemplateFields,
  renderTemplate,
} from './credential-template.js';
import { MINTED_FIELDS, type MintMethod } from './mint-method-schema.js';
import type { CredentialField, ProviderRules } from './provider-definition.js';

/** Member of stored credentials that names the method. No field has this name. */
export const METHOD_MEMBER = 'method';

type MethodRules = Pick<ProviderRules, 'credentials'>;

/** Null: the account has a credential of its own. */
export function findMethod(
  { credentials: { methods = [] } }: MethodRules,
  credentials: Credentials,
): MintMethod | null {
  const name = fieldValue(credentials, METHOD_MEMBER);
  return name === undefined ? null : (methods.find((method) => method.name === name) ?? null);
}

/** A token of the gateway proves which agent it acts for; the account holds no secret of the provider. */
export const isSignedByGateway = ({ kind, token }: MintMethod): boolean =>
  kind === 'token_exchange' || token.signedBy === 'gateway';

/** Fields that an account of the method states. */
export function listMethodFields({ credentials: { fields } }: MethodRules, method: MintMethod): CredentialField[] {
  const used = method.uses ?? [];
  return [...method.fields, ...fields.filter(({ name }) => used.includes(name))];
}

/** What the JSON key of a Google service account becomes; every other member of it, URLs above all, is ignored. */
const GOOGLE_KEY_FIELDS: readonly CredentialField[] = [
  { name: 'clientEmail', label: 'Client e-mail', secret: false, required: true },
  { name: 'privateKey', label: 'Private key', secret: true, required: true },
  { name: 'privateKeyId', label: 'Key id', secret: false, required: true },
];

/** Fields that templates of the method may name. */
export const listTemplateFieldsOf = (rules: MethodRules, method: MintMethod): CredentialField[] =>
  listMethodFields(rules, method).flatMap((field) => (field.kind === 'google_key' ? GOOGLE_KEY_FIELDS : [field]));

/** Fields that `inject` of the method may name: those of the account, and what is minted. */
export function listInjectedFields(rules: MethodRules, method: MintMethod): CredentialField[] {
  const minted = MINTED_FIELDS[method.kind].map((name) => ({ name, label: name, secret: true, required: true }));
  return [...listTemplateFieldsOf(rules, method), ...minted];
}

/** `https://host` and the path of an endpoint that is not a whole field. */
export function splitEndpoint(template: string): { readonly host: string; readonly path: string } {
  const pathAt = template.indexOf('/', template.indexOf('//') + 2);
  return pathAt === -1
    ? { host: template, path: '' }
    : { host: template.slice(0, pathAt), path: template.slice(pathAt) };
}

/** The URL with the fields of the account; null: a field is missing or may not be in a host. */
export function renderEndpoint(template: string, credentials: Credentials): string | null {
  if (template.startsWith('{')) return renderTemplate(template, credentials);
  const { host, path } = splitEndpoint(template);
  for (const name of listTemplateFields(host)) {
    const value = fieldValue(credentials, name);
    if (value === undefined || !isHostPart(value)) return null;
  }
  const encoded = Object.fromEntries(
    Object.entries(credentials).map(([name, value]) => [name, encodePathSegment(value)]),
  );
  const rest = renderTemplate(path, encoded);
  const origin = renderTemplate(host, credentials);
  return rest === null || origin === null ? null : origin + rest;
}
