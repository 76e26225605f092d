/** Asks for a new credential and tests it with the provider before it replaces the stored one. */
import { Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { CredentialFields, credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import type { CredentialInput } from '../../resources/provider-account-mutations.js';

interface ReplaceCredentialDialogProps {
  readonly title: string;
  /** The effect of the replacement. */
  readonly text: string;
  readonly providerSlug: string;
  readonly replace: UseMutationResult<unknown, Error, CredentialInput>;
  readonly onClose: () => void;
  readonly onReplaced: () => void;
}

export function ReplaceCredentialDialog(props: ReplaceCredentialDialogProps) {
  const { title, text, providerSlug, replace, onClose, onReplaced } = props;
  const providers = useProviders();
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const errors = formErrors(replace.error, credentialFieldLabels(provider));
  return (
    <FormDialog
      title={title}
      errors={errors}
      onSubmit={() =>
        replace.mutate({ providerSlug, credentials: toCredentials(provider, credentials) }, { onSuccess: onReplaced })
      }
      action="Test and store"
      pending={replace.isPending}
      disabled={provider === undefined}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      {provider !== undefined && (
        <CredentialFields provider={provider} values={credentials} onChange={setCredentials} errors={errors} />
      )}
      {providers.error !== null && <ErrorAlert error={providers.error} onRetry={providers.refetch} />}
    </FormDialog>
  );
}
