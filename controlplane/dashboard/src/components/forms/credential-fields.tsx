/** Inputs for the credential fields of a provider, as the API describes them. */
import { NativeSelect, PasswordInput, TextInput } from '@mantine/core';
import type { FormErrors } from './server-errors-at-form-fields.js';

export interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly placeholder: string | null;
  readonly hint: string | null;
  /** What a value must look like. */
  readonly looksLike: string | null;
  /** The allowed values; null: any. */
  readonly values: readonly string[] | null;
}

type CredentialValues = Readonly<Record<string, string>>;

interface CredentialFieldsProps {
  readonly fields: readonly CredentialField[];
  readonly values: CredentialValues;
  readonly onChange: (values: CredentialValues) => void;
  readonly errors: FormErrors;
}

/** Labels of the fields by their names in the request body. */
const BODY_FIELD = 'credentials';
export const credentialFieldLabels = (fields: readonly CredentialField[] = []): Record<string, string> =>
  Object.fromEntries(fields.map(({ name, label }) => [`${BODY_FIELD}.${name}`, label]));

export const CredentialFields = ({ fields, values, onChange, errors }: CredentialFieldsProps) =>
  fields.map(({ name, label, required, secret, placeholder, hint, looksLike, values: allowed }) => {
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
    const Input = secret ? PasswordInput : TextInput;
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

/** Returns only the filled fields, trimmed. */
export const omitEmptyFields = (values: CredentialValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  );
