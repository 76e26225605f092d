/** Inputs for the credential fields of a provider, as the API describes them. */
import { NativeSelect, PasswordInput, type PasswordInputProps, TextInput } from '@mantine/core';
import type { ComponentType } from 'react';
import { lazyComponent } from '../layout/lazy-component-no-suspense-delay.js';
import type { FormErrors } from './server-errors-at-form-fields.js';

const PrivateKeyInput = lazyComponent(
  async () => (await import('./private-key-input.js')).PrivateKeyInput as ComponentType<PasswordInputProps>,
  null,
);
const RedirectUri = lazyComponent(async () => (await import('./redirect-uri.js')).RedirectUri, null);

export interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** `private_key`: several lines. */
  readonly kind: string;
  readonly placeholder: string | null;
  readonly hint: string | null;
  /** What a value must look like. */
  readonly looksLike: string | null;
  /** The allowed values; null: any. */
  readonly values: readonly string[] | null;
}

type CredentialValues = Readonly<Record<string, string>>;

/** What the form needs of a provider. */
export interface CredentialProvider {
  readonly slug: string;
  readonly builtIn: boolean;
  readonly credentialFields: readonly CredentialField[];
  /** Ways in which the gateway obtains the credential itself. */
  readonly methods: readonly CredentialMethod[];
}

interface CredentialMethod {
  readonly name: string;
  readonly label: string;
  readonly hint: string | null;
  readonly kind: string;
  readonly docs: string | null;
  readonly fields: readonly CredentialField[];
}

interface CredentialFieldsProps {
  readonly provider: CredentialProvider;
  readonly values: CredentialValues;
  readonly onChange: (values: CredentialValues) => void;
  readonly errors: FormErrors;
}

/** Member of the credentials that names the method; absent: the credential is stored. */
const METHOD = 'method';
const BODY_FIELD = 'credentials';

/** Null: the credential is stored as it is entered. A provider without stored credentials has a method always. */
function chosenMethod({ credentialFields, methods }: CredentialProvider, values: CredentialValues) {
  const chosen = methods.find(({ name }) => name === values[METHOD]);
  return chosen ?? (credentialFields.length === 0 ? (methods[0] ?? null) : null);
}

const fieldsOf = (provider: CredentialProvider, values: CredentialValues): readonly CredentialField[] =>
  chosenMethod(provider, values)?.fields ?? provider.credentialFields;

/** Labels of the fields by their names in the request body. */
export const credentialFieldLabels = (provider: CredentialProvider | undefined): Record<string, string> =>
  Object.fromEntries(
    [...(provider?.credentialFields ?? []), ...(provider?.methods ?? []).flatMap(({ fields }) => fields)].map(
      ({ name, label }) => [`${BODY_FIELD}.${name}`, label],
    ),
  );

/** The filled fields of the chosen method, trimmed, as the API takes them. */
export function toCredentials(provider: CredentialProvider | undefined, values: CredentialValues) {
  if (provider === undefined) return {};
  const method = chosenMethod(provider, values);
  const credentials: Record<string, string> = method === null ? {} : { [METHOD]: method.name };
  for (const { name } of fieldsOf(provider, values)) {
    const value = values[name]?.trim() ?? '';
    if (value !== '') credentials[name] = value;
  }
  return credentials;
}

export function CredentialFields({ provider, values, onChange, errors }: CredentialFieldsProps) {
  const { credentialFields, methods } = provider;
  const method = chosenMethod(provider, values);
  return (
    <>
      {methods.length > 0 && (
        <NativeSelect
          label="Kind of credential"
          description={method?.hint}
          data={[
            ...(credentialFields.length === 0 ? [] : [{ value: '', label: 'Stored' }]),
            ...methods.map(({ name, label }) => ({ value: name, label })),
          ]}
          error={errors.fieldError(`${BODY_FIELD}.${METHOD}`)}
          value={method?.name ?? ''}
          onChange={(event) => onChange({ ...values, [METHOD]: event.currentTarget.value })}
        />
      )}
      {method !== null && method.kind === 'oauth2_authorization_code' && (
        <RedirectUri provider={provider} isOwnApp={method.fields.some(({ required }) => required)} />
      )}
      <FieldInputs fields={fieldsOf(provider, values)} values={values} onChange={onChange} errors={errors} />
    </>
  );
}

interface FieldInputsProps extends Omit<CredentialFieldsProps, 'provider'> {
  readonly fields: readonly CredentialField[];
}

const FieldInputs = ({ fields, values, onChange, errors }: FieldInputsProps) =>
  fields.map(({ name, label, required, secret, kind, placeholder, hint, looksLike, values: allowed }) => {
    const title = required ? label : `${label} (optional)`;
    if (allowed !== null) {
      return (
        <NativeSelect
          key={name}
          label={title}
          description={hint}
          data={[{ value: '', label: required ? 'Select one' : 'Default' }, ...allowed]}
          required={required}
          withAsterisk={false}
          error={errors.fieldError(`${BODY_FIELD}.${name}`)}
          value={values[name] ?? ''}
          onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
        />
      );
    }
    const Input = kind === 'private_key' ? PrivateKeyInput : secret ? PasswordInput : TextInput;
    return (
      <Input
        key={name}
        label={title}
        description={[hint, looksLike === null ? null : `Looks like ${looksLike}.`].filter(Boolean).join(' ')}
        placeholder={placeholder ?? ''}
        required={required}
        withAsterisk={false}
        // Keeps password managers from storing or filling a provider credential.
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        {...errors.secretFieldProps(`${BODY_FIELD}.${name}`)}
        value={values[name] ?? ''}
        onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
      />
    );
  });
