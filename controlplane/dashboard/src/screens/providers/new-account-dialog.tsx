/** Creates an account: lets an agent call a provider with its own or a shared credential. */
import { NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useFormDraft } from '../../api/form-drafts-across-sign-in.js';
import { AgentSelect } from '../../components/forms/agent-select.js';
import { credentialFieldLabels, toCredentials } from '../../components/forms/credential-fields.js';
import { FormDialog } from '../../components/forms/form-dialog.js';
import { EMPTY_ACCOUNT, ProviderAccountFields } from '../../components/forms/provider-account-fields.js';
import { ProviderSelect } from '../../components/forms/provider-select.js';
import { formErrors } from '../../components/forms/server-errors-at-form-fields.js';
import { lazyComponent } from '../../components/layout/lazy-component-no-suspense-delay.js';
import { useAddAccount, useProviders } from '../../resources/agent-account-and-key-hooks.js';
import { useAssignSharedCredential, useSharedCredentialsOfProvider } from '../../resources/shared-credential-hooks.js';

const AccountSetup = lazyComponent(
  async () => (await import('../../components/credentials/provider-setup.js')).AccountSetup,
  null,
);

const LABELS = { agentId: 'Agent', agent: 'Agent', providerSlug: 'Provider', credentialId: 'Credential' };
const OWN_CREDENTIAL = '';

interface NewAccountDialogProps {
  readonly onClose: () => void;
  readonly onAdded: () => void;
}

export function NewAccountDialog({ onClose, onAdded }: NewAccountDialogProps) {
  const providers = useProviders();
  const [agentId, setAgentId] = useFormDraft('new account agent', '');
  const [providerSlug, setProviderSlug] = useFormDraft('new account provider', 'openai');
  const [credentialId, setCredentialId] = useFormDraft('new account credential', OWN_CREDENTIAL);
  const [account, setAccount] = useState(EMPTY_ACCOUNT);
  const shared = useSharedCredentialsOfProvider(providerSlug).data ?? [];
  const addOwn = useAddAccount();
  const addShared = useAssignSharedCredential();
  const provider = providers.data?.find(({ slug }) => slug === providerSlug);
  const error = credentialId === OWN_CREDENTIAL ? addOwn.error : addShared.error;
  const errors = formErrors(error, { ...LABELS, ...credentialFieldLabels(provider) });
  const { method } = toCredentials(provider, account.credentials);
  const submit = (): void => {
    const { credentials, allowOpaque } = account;
    if (credentialId !== OWN_CREDENTIAL) {
      addShared.mutate({ agentId, providerSlug, credentialId, allowOpaque }, { onSuccess: onAdded });
      return;
    }
    addOwn.mutate(
      { agentId, providerSlug, credentials: toCredentials(provider, credentials), allowOpaque },
      { onSuccess: onAdded },
    );
  };
  return (
    <FormDialog
      title="Add account"
      errors={errors}
      onSubmit={() => submit()}
      action={credentialId === OWN_CREDENTIAL ? 'Test and add' : 'Add'}
      pending={addOwn.isPending || addShared.isPending}
      disabled={agentId === ''}
      onClose={onClose}
    >
      <AgentSelect
        label="Agent"
        placeholder="Search by name"
        value={agentId}
        error={errors.fieldError('agentId') ?? errors.fieldError('agent')}
        onChange={setAgentId}
      />
      <ProviderSelect
        value={providerSlug}
        error={errors.fieldError('providerSlug')}
        onChange={(slug) => {
          setProviderSlug(slug);
          setCredentialId(OWN_CREDENTIAL);
          setAccount(EMPTY_ACCOUNT);
          addOwn.reset();
        }}
      />
      {shared.length > 0 && (
        <NativeSelect
          label="Credential"
          data={[
            { value: OWN_CREDENTIAL, label: 'Own credential, entered here' },
            ...shared.map(({ id, name }) => ({ value: id, label: `Shared: ${name}` })),
          ]}
          error={errors.fieldError('credentialId')}
          value={credentialId}
          onChange={(event) => setCredentialId(event.currentTarget.value)}
        />
      )}
      {provider !== undefined && (
        <ProviderAccountFields
          provider={provider}
          values={account}
          onChange={setAccount}
          errors={errors}
          withoutCredentials={credentialId !== OWN_CREDENTIAL}
        />
      )}
      {credentialId === OWN_CREDENTIAL && method !== undefined && agentId !== '' && (
        <AccountSetup agentId={agentId} providerSlug={providerSlug} method={method} />
      )}
      {credentialId !== OWN_CREDENTIAL && (
        <Text size="sm" c="dimmed">
          Already stored. Rotating it applies to all agents that use it.
        </Text>
      )}
    </FormDialog>
  );
}
