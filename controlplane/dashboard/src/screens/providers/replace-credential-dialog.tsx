/** Asks for a new credential and tests it with the provider before it replaces the stored one. */
import { Text } from '@mantine/core';
import type { UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert } from '../../components/feedback/error-alert.js';
import { CredentialFields, credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { useProviders } from '../../resources/agent-account-and-key-hooks.js';
import type { RotationInput, RotationOptions } from '../../resources/provider-account-mutations.js';
import { RotationOptionFields, startingChoice, toRotationOptions } from './rotation-options.js';

interface ReplaceCredentialDialogProps {
  readonly title: string;
  /** The effect of the replacement. */
  readonly text: string;
  readonly providerSlug: string;
  readonly replace: UseMutationResult<unknown, Error, RotationInput>;
  /** The agent of the account; absent: several use the credential. */
  readonly agentId?: string;
  /** False: the credential is connected by a person or out of use, so it is replaced at once. */
  readonly allowsOverlap: boolean;
  readonly onClose: () => void;
  readonly onReplaced: (options: RotationOptions) => void;
}

interface Replaceable {
  readonly status: 'active' | 'needs_credentials';
  readonly minted: { readonly kind: string } | null;
}

/** A credential that calls carry, and that no person has to connect. */
export const allowsOverlap = ({ status, minted }: Replaceable): boolean =>
  status === 'active' && minted?.kind !== 'oauth2_authorization_code';

export function ReplaceCredentialDialog(props: ReplaceCredentialDialogProps) {
  const { title, text, providerSlug, agentId, allowsOverlap, replace, onClose, onReplaced } = props;
  const providers = useProviders();
  const [credentials, setCredentials] = useState<Readonly<Record<string, string>>>({});
  const [choice, setChoice] = useState(() => startingChoice(allowsOverlap));
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const errors = formErrors(replace.error, credentialFieldLabels(provider));
  return (
    <FormDialog
      title={title}
      errors={errors}
      onSubmit={() => {
        const options = toRotationOptions(choice);
        const given = { providerSlug, credentials: toCredentials(provider, credentials), options };
        replace.mutate(agentId === undefined ? given : { ...given, agentId }, { onSuccess: () => onReplaced(options) });
      }}
      action="Test and store"
      pending={replace.isPending}
      disabled={provider === undefined}
      onClose={onClose}
    >
      <Text size="sm">{text}</Text>
      {provider !== undefined && (
        <CredentialFields provider={provider} values={credentials} onChange={setCredentials} errors={errors} />
      )}
      <RotationOptionFields allowsOverlap={allowsOverlap} value={choice} onChange={setChoice} />
      {providers.error !== null && <ErrorAlert error={providers.error} onRetry={providers.refetch} />}
    </FormDialog>
  );
}
