/** Asks for a credential in the place of another; the provider is asked first whether it takes it. */
import { Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { CredentialFields, credentialLabels, filledIn } from '../../parts/credential-fields.js';
import { Failure } from '../../parts/failure.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { formProblem } from '../../parts/form-problem.js';
import type { Credentials } from '../../resources/accounts.js';
import { useProviders } from '../../resources/agents.js';

interface ReplaceCredentialProps {
  readonly title: string;
  /** What it means for whom. */
  readonly text: string;
  readonly providerSlug: string;
  readonly replace: UseMutationResult<unknown, Error, Credentials>;
  readonly onClose: () => void;
  readonly onReplaced: () => void;
}

export function ReplaceCredential(props: ReplaceCredentialProps) {
  const { title, text, providerSlug, replace, onClose, onReplaced } = props;
  const providers = useProviders();
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const problem = formProblem(replace.error, credentialLabels(provider?.credentialFields));
  return (
    <FormDialog
      title={title}
      problem={problem}
      onSubmit={() => replace.mutate({ providerSlug, credentials: filledIn(credentials) }, { onSuccess: onReplaced })}
      action="Test and store"
      pending={replace.isPending}
      disabled={provider === undefined}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      {provider !== undefined && (
        <CredentialFields
          fields={provider.credentialFields}
          values={credentials}
          onChange={setCredentials}
          problem={problem}
        />
      )}
      {providers.error !== null && <Failure error={providers.error} onRetry={providers.refetch} />}
    </FormDialog>
  );
}
