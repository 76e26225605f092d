/** Inputs for what a provider needs to know of an account, as the API describes them. */
import { PasswordInput, TextInput } from '@mantine/core';
import type { FormErrors } from './form-errors.js';

export interface CredentialField {
  readonly name: string;
  readonly label: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly placeholder: string | null;
  readonly hint: string | null;
}

type CredentialValues = Readonly<Record<string, string>>;

interface CredentialFieldsProps {
  readonly fields: readonly CredentialField[];
  readonly values: CredentialValues;
  readonly onChange: (values: CredentialValues) => void;
  readonly problem: FormErrors;
}

/** As they are called in the body of a request. */
const BODY_FIELD = 'credentials';
export const credentialFieldLabels = (fields: readonly CredentialField[] = []): Record<string, string> =>
  Object.fromEntries(fields.map(({ name, label }) => [`${BODY_FIELD}.${name}`, label]));

export const CredentialFields = ({ fields, values, onChange, problem }: CredentialFieldsProps) =>
  fields.map(({ name, label, required, secret, placeholder, hint }) => {
    const Input = secret ? PasswordInput : TextInput;
    return (
      <Input
        key={name}
        label={required ? label : `${label} (optional)`}
        description={hint}
        placeholder={placeholder ?? ''}
        required={required}
        withAsterisk={false}
        // What is pasted here is no login of this site: nobody's password manager shall keep or fill it.
        autoComplete="off"
        data-1p-ignore
        data-lpignore="true"
        spellCheck={false}
        {...problem.secretFieldProps(`${BODY_FIELD}.${name}`)}
        value={values[name] ?? ''}
        onChange={(event) => onChange({ ...values, [name]: event.currentTarget.value })}
      />
    );
  });

/** Only what was filled in. */
export const omitEmptyFields = (values: CredentialValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])),
  );
