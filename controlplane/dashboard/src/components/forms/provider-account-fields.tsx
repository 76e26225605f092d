/** The inputs of an account: the provider's credentials and, where it has opaque calls, whether they are allowed. */
import { NativeSelect, Stack, Text } from '@mantine/core';
import { CredentialFields, type CredentialProvider } from './credential-fields.js';
import type { FormErrors } from './server-errors-at-form-fields.js';

export interface AccountValues {
  readonly credentials: Readonly<Record<string, string>>;
  readonly allowOpaque: boolean;
}

export const EMPTY_ACCOUNT: AccountValues = { credentials: {}, allowOpaque: false };

interface ProviderAccountFieldsProps {
  readonly provider: CredentialProvider & {
    readonly displayName: string;
    readonly opaqueCalls: readonly { readonly call: string; readonly why: string | null }[];
  };
  readonly values: AccountValues;
  readonly onChange: (values: AccountValues) => void;
  readonly errors: FormErrors;
  /** The account uses a stored credential. */
  readonly withoutCredentials?: boolean;
}

export function ProviderAccountFields({
  provider,
  values,
  onChange,
  errors,
  withoutCredentials = false,
}: ProviderAccountFieldsProps) {
  const { displayName, opaqueCalls } = provider;
  return (
    <>
      {!withoutCredentials && (
        <CredentialFields
          provider={provider}
          values={values.credentials}
          onChange={(credentials) => onChange({ ...values, credentials })}
          errors={errors}
        />
      )}
      {opaqueCalls.length > 0 && (
        <Stack gap={4}>
          <NativeSelect
            label="Calls whose path does not say what they do"
            description={`${displayName} has such calls. No policy can tell what they do.`}
            data={[
              { value: '', label: 'Reject' },
              { value: 'allow', label: 'Allow' },
            ]}
            value={values.allowOpaque ? 'allow' : ''}
            onChange={(event) => onChange({ ...values, allowOpaque: event.currentTarget.value !== '' })}
          />
          {opaqueCalls.map(({ call, why }) => (
            <Text key={call} size="sm" c="dimmed" className="acg-break-anywhere">
              {why === null ? call : `${call}: ${why}`}
            </Text>
          ))}
        </Stack>
      )}
    </>
  );
}
